/**
 * `files: {path: text}` as callers send it. A Map, because a file may be called `__proto__` or
 * `constructor`, which a plain record would drop or confuse.
 */
import * as z from 'zod';

export type FilesMap = ReadonlyMap<string, string>;

export const filesMapSchema = z.unknown().transform((value, context): FilesMap => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    context.issues.push({ code: 'custom', input: value, message: 'an object of path to text' });
    return z.NEVER;
  }
  const files = new Map<string, string>();
  for (const [path, text] of Object.entries(value)) {
    if (typeof text === 'string') files.set(path, text);
    else context.issues.push({ code: 'custom', input: text, path: [path], message: 'the text of the file' });
  }
  return files;
});
