/**
 * Opaque cursors: base64url of the list's name and the last sort key. Decoded once, re-encoded, equal or
 * refused, so a cursor that was cut, guessed or taken from another list is an error and not a wrong page.
 */
import type * as z from 'zod';
import { CognitionError } from '../domain/cognition-error.ts';

export function encodeCursor(list: string, sortKey: string): string {
  return Buffer.from(`${list}:${sortKey}`, 'utf8').toString('base64url');
}

/**
 * @param schema of the list's sort keys.
 * @throws CognitionError `invalid_request`
 */
export function decodeCursor(
  list: string,
  cursor: string | undefined,
  schema: z.ZodType<string>,
): string | undefined {
  if (cursor === undefined) return undefined;
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const key = schema.safeParse(text.slice(list.length + 1));
  if (!key.success || encodeCursor(list, key.data) !== cursor) {
    const message = 'not a cursor of this list; pass `next_cursor` of the page before as it is, or none';
    throw new CognitionError('invalid_request', `cursor: ${message}`, {
      errors: [{ pointer: '/query/cursor', message }],
    });
  }
  return key.data;
}
