/** Files of this user alone. */
import { linkSync, lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** What others can read is no secret, and what others could have written proves nothing: both count as not there. */
export function readPrivate(file: string): Buffer | undefined {
  const info = lstatSync(file, { throwIfNoEntry: false });
  const uid = process.getuid?.();
  if (info?.isFile() !== true) return undefined;
  if (uid !== undefined && (info.uid !== uid || (info.mode & 0o077) !== 0)) return undefined;
  return readFileSync(file);
}

/** Whole or not at all, and never readable by others, not even for a moment. A link of that name is replaced. */
export function writePrivate(file: string, content: string | Uint8Array): void {
  const temporary = writeTemporary(file, content);
  renameSync(temporary, file);
}

/**
 * The same, but of several processes at once only the first one writes.
 * @returns whether this one did.
 */
export function createPrivate(file: string, content: string | Uint8Array): boolean {
  const temporary = writeTemporary(file, content);
  try {
    linkSync(temporary, file);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

function writeTemporary(file: string, content: string | Uint8Array): string {
  const temporary = `${file}.${process.pid}`;
  rmSync(temporary, { force: true });
  writeFileSync(temporary, content, { mode: 0o600, flag: 'wx' });
  return temporary;
}
