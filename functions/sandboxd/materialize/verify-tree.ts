/** Reads back what lies on disk, as a stranger would: nothing that is remembered from the upload is believed. */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
} from 'node:fs';
import { modeOf } from './write-package.ts';

const PACKAGE_MAGIC = 'CSKPKG1\n';
const PACKAGE_HEADER_BYTES = 4 + 8;
const FIRST_BUFFER_BYTES = 64 * 1024;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const DIRECTORY_MODE = 0o555;
const MODE_BITS = 0o7777;

/** What must not be there, in words. */
export class TreeProblem extends Error {
  override readonly name = 'TreeProblem';
}

/**
 * Takes away every right to write below a folder, and returns the paths of its files in ascending order of their
 * UTF-8 bytes.
 * @throws TreeProblem for anything but files and folders.
 */
export function sealFolders(root: string): string[] {
  const paths: string[] = [];
  const visit = (folder: string, prefix: string): void => {
    chmodSync(folder, DIRECTORY_MODE);
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory()) visit(`${folder}/${entry.name}`, `${prefix}${entry.name}/`);
      else if (entry.isFile()) paths.push(prefix + entry.name);
      else throw new TreeProblem(`${prefix}${entry.name} is not a plain file`);
    }
    if ((lstatSync(folder).mode & MODE_BITS) !== DIRECTORY_MODE)
      throw new TreeProblem(`${folder} is not read-only`);
  };
  visit(root, '');
  return sortByBytes(paths);
}

/** UTF-16 sorts as UTF-8 does, but for what lies behind the surrogates. */
function sortByBytes(paths: string[]): string[] {
  if (!paths.some((path) => /[\ud800-\uffff]/.test(path))) return paths.sort();
  return paths.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

/** Bytes that grow as they are needed, so that a tree is read and hashed in one piece. */
class Canonical {
  #bytes: Buffer;
  #length = 0;

  constructor(sizeHint: number) {
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(sizeHint, FIRST_BUFFER_BYTES));
  }

  /** @returns the buffer and where in it the next `count` bytes go. */
  take(count: number): { bytes: Buffer; at: number } {
    const at = this.#length;
    this.#length += count;
    if (this.#length > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(2 * this.#length);
      this.#bytes.copy(larger, 0, 0, at);
      this.#bytes = larger;
    }
    return { bytes: this.#bytes, at };
  }

  text(text: string): void {
    const { bytes, at } = this.take(Buffer.byteLength(text));
    bytes.write(text, at, 'utf8');
  }

  sha256(): string {
    return createHash('sha256').update(this.#bytes.subarray(0, this.#length)).digest('hex');
  }
}

/** @param sizeHint bytes that the package is expected to have; only saves time. @returns its digest. */
export function packageDigestOnDisk(root: string, sizeHint: number): string {
  const canonical = new Canonical(sizeHint);
  canonical.text(PACKAGE_MAGIC);
  for (const path of sealFolders(root)) {
    withPlainFile(root, path, (file, size) => {
      const { bytes, at } = canonical.take(4);
      bytes.writeUInt32BE(Buffer.byteLength(path), at);
      canonical.text(path);
      const room = canonical.take(PACKAGE_HEADER_BYTES - 4 + size);
      room.bytes.writeUInt32BE(0, room.at);
      room.bytes.writeUInt32BE(size, room.at + 4);
      const start = room.at + PACKAGE_HEADER_BYTES - 4;
      readAll(file, path, room.bytes.subarray(start, start + size));
      return modeOf(room.bytes.subarray(start, start + 2));
    });
  }
  return `sha256:${canonical.sha256()}`;
}

/** @returns lower hex SHA-256 of a file that must have this mode. */
export function fileHashOnDisk(root: string, path: string, mode: number): string {
  const hash = createHash('sha256');
  withPlainFile(root, path, (file, size) => {
    const content = Buffer.allocUnsafeSlow(size);
    readAll(file, path, content);
    hash.update(content);
    return mode;
  });
  return hash.digest('hex');
}

/** @param read returns the mode that the file must have. */
function withPlainFile(root: string, path: string, read: (file: number, size: number) => number): void {
  const file = openSync(`${root}/${path}`, READ);
  try {
    const status = fstatSync(file);
    if (!status.isFile() || status.nlink !== 1) throw new TreeProblem(`${path} is not a plain file`);
    const mode = read(file, status.size);
    if ((status.mode & MODE_BITS) !== mode) throw new TreeProblem(`${path} has the wrong mode`);
  } finally {
    closeSync(file);
  }
}

function readAll(file: number, path: string, into: Buffer): void {
  for (let length = 0; length < into.length; ) {
    const read = readSync(file, into, length, into.length - length, null);
    if (read === 0) throw new TreeProblem(`${path} is shorter than it says`);
    length += read;
  }
}

/** The names in a folder, which must be exactly these. @throws TreeProblem */
export function mustHold(folder: string, names: readonly string[]): void {
  const found = readdirSync(folder);
  const extra = found.find((name) => !names.includes(name));
  if (extra !== undefined) {
    throw new TreeProblem(`${folder} has ${JSON.stringify(extra)}, which nobody asked for`);
  }
  const missing = names.find((name) => !found.includes(name));
  if (missing !== undefined) throw new TreeProblem(`${folder} lacks ${JSON.stringify(missing)}`);
}
