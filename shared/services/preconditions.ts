import { CognitionError } from '../domain/cognition-error.ts';
import type { Preconditions } from './commit-with.ts';

/**
 * @param what for the message, e.g. `the skill "t1"`.
 * @param etag of what is there, undefined when nothing is.
 * @throws CognitionError `precondition_failed`
 */
export function requirePreconditions(
  what: string,
  etag: string | undefined,
  { if_match, if_none_match }: Preconditions,
): void {
  if (if_match !== undefined && etag === undefined) {
    throw new CognitionError(
      'precondition_failed',
      `If-Match: ${what} does not exist; leave the header out to create it`,
    );
  }
  if (if_match !== undefined && if_match !== etag) {
    throw new CognitionError(
      'precondition_failed',
      `If-Match: ${what} has changed since; read it again and repeat the change with its new ETag`,
    );
  }
  if (if_none_match === true && etag !== undefined) {
    throw new CognitionError(
      'precondition_failed',
      `If-None-Match: ${what} exists already; leave the header out to replace it`,
    );
  }
}
