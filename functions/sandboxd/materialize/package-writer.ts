/**
 * Writes a package to disk while it comes in: the canonical bytes (domain/canonical-package.ts) are taken apart as a
 * stream, so that no copy of the whole is ever held. They are hostile until their hash is known at the end; nothing
 * counts before that, and the seal proves what lies on disk once more.
 */
import { closeSync, constants, fchmodSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { TextDecoder } from 'node:util';
import { LIMITS } from '../../../shared/contracts/limits.ts';
import { DaemonError, errnoOf, storageError } from '../daemon-error.ts';
import { safePath } from './safe-path.ts';

const MAGIC = Buffer.from('CSKPKG1\n', 'latin1');
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const READ_ONLY = 0o444;
const EXECUTABLE = 0o555;

/** `#!` makes a file executable; nothing is ever writable. */
export const modeOf = (content: ArrayLike<number>): number =>
  content[0] === 0x23 && content[1] === 0x21 ? EXECUTABLE : READ_ONLY;

export interface PackageWriter {
  /** @throws DaemonError for bytes that are no package; then only `discard` may follow. */
  write(chunk: Buffer): void;
  /** @returns how many files there are. @throws DaemonError when the bytes end too early. */
  finish(): number;
  /** Takes away everything that was written. */
  discard(): void;
}

/** What the next bytes are; each part is taken whole but the content of a file. */
type Part = 'magic' | 'path length' | 'path' | 'content length' | 'content';

/** @param root folder that must not exist yet. */
export function createPackageWriter(root: string): PackageWriter {
  const parts = createPartReader();
  const files = createFileWriter(root);
  let part: Part = 'magic';
  let left = MAGIC.length;
  const expect = (next: Part, length: number): void => {
    part = next;
    left = length;
  };
  const onPart = (bytes: Buffer): void => {
    if (part === 'magic') {
      if (!bytes.equals(MAGIC)) throw noPackage('it does not begin with CSKPKG1');
      expect('path length', 4);
    } else if (part === 'path length') {
      const length = bytes.readUInt32BE(0);
      if (length > LIMITS.pathBytes) throw noPackage(`a path has over ${LIMITS.pathBytes} bytes`);
      expect('path', length);
    } else if (part === 'path') {
      files.open(bytes);
      expect('content length', 8);
    } else {
      expect('content', bytes.readUInt32BE(0) * 2 ** 32 + bytes.readUInt32BE(4));
    }
  };
  const step = (chunk: Buffer, at: number): number => {
    if (part !== 'content') {
      const taken = parts.take(chunk, at, left);
      if (taken !== undefined) onPart(taken);
      return parts.consumed();
    }
    const count = Math.min(left, chunk.length - at);
    files.append(chunk.subarray(at, at + count));
    left -= count;
    if (left === 0) {
      files.close();
      expect('path length', 4);
    }
    return count;
  };
  return {
    write: (chunk) => {
      // An empty file ends without a byte.
      for (let at = 0; at < chunk.length || (part === 'content' && left === 0); ) at += step(chunk, at);
    },
    finish: () => {
      if (part !== 'path length' || parts.pending() > 0) throw noPackage('it ends in the middle of a file');
      return files.count();
    },
    discard: files.discard,
  };
}

const noPackage = (why: string): DaemonError =>
  new DaemonError('bad_request', `the body is no package: ${why}`);

interface PartReader {
  /** @returns `length` bytes, or undefined when the chunk ends before them; the rest is asked for again. */
  take(chunk: Buffer, at: number, length: number): Buffer | undefined;
  /** How many bytes of the chunk the last call has used. */
  consumed(): number;
  pending(): number;
}

function createPartReader(): PartReader {
  const kept = Buffer.alloc(Math.max(LIMITS.pathBytes, MAGIC.length));
  let have = 0;
  let used = 0;
  return {
    take: (chunk, at, length) => {
      used = Math.min(length - have, chunk.length - at);
      if (have === 0 && used === length) return chunk.subarray(at, at + length);
      chunk.copy(kept, have, at, at + used);
      have += used;
      if (have < length) return undefined;
      have = 0;
      return kept.subarray(0, length);
    },
    consumed: () => used,
    pending: () => have,
  };
}

interface FileWriter {
  open(path: Buffer): void;
  append(bytes: Buffer): void;
  close(): void;
  count(): number;
  discard(): void;
}

function createFileWriter(root: string): FileWriter {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const folders = new Set<string>();
  let previous = Buffer.alloc(0);
  let file: number | undefined;
  let head: number[] = [];
  let count = 0;
  const closeFile = (): void => {
    if (file !== undefined) closeSync(file);
    file = undefined;
  };
  return {
    open: (bytes) => {
      if (count > 0 && Buffer.compare(previous, bytes) >= 0)
        throw noPackage('its paths are not in ascending order');
      count += 1;
      if (count > LIMITS.packageFiles) {
        throw new DaemonError('too_large', `the package has over ${LIMITS.packageFiles} files`);
      }
      previous = Buffer.from(bytes);
      const path = safePath(decodePath(decoder, bytes));
      file = createFile(root, path, folders);
      head = [];
    },
    append: (bytes) => {
      if (file === undefined) return;
      // Two bytes decide, and may come one by one.
      for (let at = 0; head.length < 2 && at < bytes.length; at += 1) head.push(bytes[at] ?? 0);
      writeAll(file, bytes);
    },
    close: () => {
      if (file !== undefined && modeOf(head) === EXECUTABLE) fchmodSync(file, EXECUTABLE);
      closeFile();
    },
    count: () => count,
    discard: () => {
      closeFile();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function decodePath(decoder: TextDecoder, bytes: Buffer): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw new DaemonError('bad_request', 'the body is no package: a path is not UTF-8', { cause });
  }
}

/** @param made folders that exist; the root is one of them when it is there. */
export function createFile(root: string, path: string, made: Set<string>): number {
  try {
    makeFolders(root, path.slice(0, Math.max(0, path.lastIndexOf('/'))), made);
    return openSync(`${root}/${path}`, CREATE, READ_ONLY);
  } catch (error) {
    throw writeError(error, path);
  }
}

function makeFolders(root: string, folder: string, made: Set<string>): void {
  if (made.has(folder)) return;
  if (folder !== '') makeFolders(root, folder.slice(0, Math.max(0, folder.lastIndexOf('/'))), made);
  mkdirSync(folder === '' ? root : `${root}/${folder}`, 0o755);
  made.add(folder);
}

export function writeAll(file: number, bytes: Uint8Array): void {
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
  } catch (error) {
    throw storageError(error, 'the content');
  }
}

/** The sandbox writes every name once: what exists already is a file that would have to be a folder too. */
function writeError(error: unknown, path: string): unknown {
  const errno = errnoOf(error);
  if (errno !== 'EEXIST' && errno !== 'ENOTDIR') return storageError(error, JSON.stringify(path));
  const message = `${JSON.stringify(path)} needs one name as a file and as a folder`;
  return new DaemonError('bad_request', message, { cause: error });
}
