import type { Preconditions } from '../../shared/services/commit-with.ts';
import { invalidRequest, singleHeader } from './invalid-request.ts';

const ENTITY_TAG = /^"([\x21\x23-\x7e]{1,256})"$/;

type Headers = ReadonlyMap<string, readonly string[]>;

/**
 * One strong entity tag in `If-Match`, or `If-None-Match: *`. What cannot be honoured is refused: a condition
 * that is dropped in silence is a lost update.
 * @param taken the headers that the operation takes.
 */
export function readPreconditions(
  headers: Headers,
  taken: readonly ('if-match' | 'if-none-match')[],
): Preconditions {
  const ifMatch = singleHeader(headers, 'if-match');
  const ifNoneMatch = singleHeader(headers, 'if-none-match');
  if (ifMatch !== undefined && !taken.includes('if-match')) throw notTaken('If-Match');
  if (ifNoneMatch !== undefined && !taken.includes('if-none-match')) throw notTaken('If-None-Match');
  if (ifMatch !== undefined && ifNoneMatch !== undefined) {
    throw invalidRequest('If-Match and If-None-Match exclude each other; send one of them');
  }
  if (ifNoneMatch !== undefined && ifNoneMatch !== '*') {
    throw invalidRequest('If-None-Match takes only * here, for "create, never replace"');
  }
  if (ifMatch === undefined) return ifNoneMatch === undefined ? {} : { if_none_match: true };
  const tag = ENTITY_TAG.exec(ifMatch)?.[1];
  if (tag === undefined) {
    throw invalidRequest(
      'If-Match takes one strong entity tag in double quotes, as the ETag header of an answer has it; no list, no W/, no *',
    );
  }
  return { if_match: tag };
}

const notTaken = (name: string): Error =>
  invalidRequest(`this operation takes no ${name}; remove the header`);

/** For GET: the tag of the answer is one that the caller holds already. */
export function holdsAlready(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((held) => held.trim().replace(/^W\//, '') === etag);
}
