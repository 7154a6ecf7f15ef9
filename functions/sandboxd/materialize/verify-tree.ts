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
import { modeOf } from './package-writer.ts';

const PACKAGE_MAGIC = 'CSKPKG1\n';
const PACKAGE_HEADER_BYTES = 4 + 8;
const PIECE_BYTES = 256 * 1024;
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

/** Hashes in few and large pieces: a tree of small files makes thousands of small ones. */
class PieceHash {
  readonly #hash = createHash('sha256');
  #bytes = Buffer.allocUnsafeSlow(PIECE_BYTES);
  #length = 0;

  /** @returns room for the next `count` bytes, to be filled before anything else happens. */
  room(count: number): Buffer {
    if (this.#length + count > this.#bytes.length) {
      this.#hash.update(this.#bytes.subarray(0, this.#length));
      this.#length = 0;
      if (count > this.#bytes.length) this.#bytes = Buffer.allocUnsafeSlow(count);
    }
    this.#length += count;
    return this.#bytes.subarray(this.#length - count, this.#length);
  }

  hex(): string {
    return this.#hash.update(this.#bytes.subarray(0, this.#length)).digest('hex');
  }
}

/** @returns the digest of the canonical bytes that the files of a package make. */
export function packageDigestOnDisk(root: string): string {
  const hash = new PieceHash();
  hash.room(PACKAGE_MAGIC.length).write(PACKAGE_MAGIC);
  for (const path of sealFolders(root)) {
    withPlainFile(root, path, (file, size) => {
      const pathBytes = Buffer.byteLength(path);
      const header = PACKAGE_HEADER_BYTES + pathBytes;
      const piece = hash.room(header + size);
      piece.writeUInt32BE(pathBytes, 0);
      piece.write(path, 4);
      piece.writeBigUInt64BE(BigInt(size), 4 + pathBytes);
      const content = piece.subarray(header);
      readAll(file, path, content);
      return modeOf(content);
    });
  }
  return `sha256:${hash.hex()}`;
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
