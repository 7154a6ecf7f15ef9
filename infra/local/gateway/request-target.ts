/** The request target as it came: nothing is normalized, so that what is signed, matched and passed on is one path. */
import { invalidRequest } from '../../../functions/runtime/invalid-request.ts';

export interface RequestTarget {
  /** Still percent-encoded. */
  readonly path: string;
  /** Decoded once, in order. */
  readonly query: ReadonlyMap<string, readonly string[]>;
}

/** @throws CognitionError `invalid_request` */
export function parseTarget(url: string): RequestTarget {
  if (!url.startsWith('/')) throw invalidRequest('the request target must be a path');
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  return { path, query: parseQuery(mark < 0 ? '' : url.slice(mark + 1)) };
}

function parseQuery(text: string): ReadonlyMap<string, readonly string[]> {
  const query = new Map<string, string[]>();
  for (const pair of text === '' ? [] : text.split('&')) {
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals), 'the query');
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1), 'the query');
    // Records of libraries on the way lose this name.
    if (name === '__proto__') throw invalidRequest('a query parameter cannot be called __proto__');
    const values = query.get(name);
    if (values === undefined) query.set(name, [value]);
    else values.push(value);
  }
  return query;
}

const decode = (text: string, what: string): string => decodePercent(text.replaceAll('+', ' '), what);

/** @throws CognitionError `invalid_request` */
export function decodePercent(text: string, what: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalidRequest(`${what} has a percent-encoding that is not UTF-8`);
  }
}
