/** Where the objects of the filesystem store lie, and in which order a walk over them finds their keys. */
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { systemErrorCode } from './filesystem-failure.ts';

/** No segment of a key has it, so the object `a` and the folder of `a/b` never meet. */
const OBJECT_SUFFIX = '~';

/** Relative to the folder of all objects. */
export const objectPath = (key: string): string => `${key}${OBJECT_SUFFIX}`;

interface Walk {
  readonly prefix: string;
  /** Exclusive. */
  readonly after: string | undefined;
  readonly limit: number;
}

/** Keys in ascending order. Keys are ASCII, so the order of strings is that of bytes. */
export async function listObjectFiles(objects: string, walk: Walk): Promise<string[]> {
  const keys: string[] = [];
  await collectKeys(objects, '', walk, keys);
  return keys;
}

async function collectKeys(objects: string, folder: string, walk: Walk, keys: string[]): Promise<void> {
  // A folder counts as its name with a slash: so do the keys below it.
  const names = (await entriesOf(join(objects, folder))).flatMap(keyPartOf).sort();
  for (const name of names) {
    if (keys.length >= walk.limit) return;
    const path = folder + name;
    if (!name.endsWith('/')) {
      if (path.startsWith(walk.prefix) && (walk.after === undefined || path > walk.after)) keys.push(path);
    } else if (mayHold(path, walk)) {
      await collectKeys(objects, path, walk, keys);
    }
  }
}

function keyPartOf(entry: Dirent): string[] {
  if (entry.isDirectory()) return [`${entry.name}/`];
  return entry.isFile() && entry.name.endsWith(OBJECT_SUFFIX)
    ? [entry.name.slice(0, -OBJECT_SUFFIX.length)]
    : [];
}

function mayHold(folder: string, { prefix, after }: Walk): boolean {
  const inPrefix = folder.startsWith(prefix) || prefix.startsWith(folder);
  return inPrefix && (after === undefined || folder > after || after.startsWith(folder));
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    // Emptied and removed since its parent was read.
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
