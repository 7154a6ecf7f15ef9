/** Writes a package below /skills. The bytes are hostile until their digest is that of the manifest. */
import { closeSync, constants, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { LIMITS } from '../../../shared/contracts/limits.ts';
import { decodePackage, NotCanonical, type PackageEntry } from '../../../shared/domain/canonical-package.ts';
import { DaemonError, errnoOf, storageError } from '../daemon-error.ts';
import { safePath } from './safe-path.ts';

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** `#!` makes a file executable; nothing is ever writable. */
export const modeOf = (content: Uint8Array): number =>
  content[0] === 0x23 && content[1] === 0x21 ? 0o555 : 0o444;

/**
 * @param root folder of the package, which must not exist yet.
 * @returns how many files it has.
 * @throws DaemonError; nothing is left below `root` then.
 */
export function writePackage(root: string, bytes: Uint8Array): number {
  const entries = decode(bytes);
  try {
    mkdirSync(root, 0o755);
    const directories = new Set<string>();
    for (const { path, content } of entries) {
      makeParents(root, path, directories);
      writeNewFile(`${root}/${path}`, content, modeOf(content));
    }
  } catch (error) {
    rmSync(root, { recursive: true, force: true });
    throw writeError(error, 'the package');
  }
  return entries.length;
}

/** The sandbox writes every name once: what exists already is a file that would have to be a folder too. */
export function writeError(error: unknown, what: string): unknown {
  const errno = errnoOf(error);
  if (errno !== 'EEXIST' && errno !== 'ENOTDIR') return storageError(error, what);
  return new DaemonError('bad_request', `${what} needs one name as a file and as a folder`, { cause: error });
}

function decode(bytes: Uint8Array): PackageEntry[] {
  let entries: PackageEntry[];
  try {
    entries = decodePackage(bytes);
  } catch (cause) {
    if (!(cause instanceof NotCanonical)) throw cause;
    throw new DaemonError('bad_request', `the body is no package: ${cause.message}`, { cause });
  }
  if (entries.length > LIMITS.packageFiles) {
    throw new DaemonError('too_large', `the package has over ${LIMITS.packageFiles} files`);
  }
  for (const entry of entries) safePath(entry.path);
  return entries;
}

/** Innermost first. */
function* parentsOf(path: string): Generator<string> {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    yield path.slice(0, end);
  }
}

/** @param made folders that are known to exist. */
export function makeParents(root: string, path: string, made: Set<string>): void {
  const parent = path.slice(0, Math.max(0, path.lastIndexOf('/')));
  if (parent === '' || made.has(parent)) return;
  const missing: string[] = [];
  for (const folder of parentsOf(path)) {
    if (made.has(folder)) break;
    missing.push(folder);
  }
  for (const folder of missing.reverse()) {
    mkdirSync(`${root}/${folder}`, 0o755);
    made.add(folder);
  }
}

export function writeNewFile(path: string, content: Uint8Array, mode: number): void {
  const file = openSync(path, CREATE, mode);
  try {
    for (let at = 0; at < content.length; ) at += writeSync(file, content, at);
  } finally {
    closeSync(file);
  }
}
