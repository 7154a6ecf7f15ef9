/** Reads back what lies on disk, as a stranger would: nothing that is remembered from the upload is believed. */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
} from 'node:fs';
import { modeOf } from './write-package.ts';

const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const PACKAGE_MAGIC = 'CSKPKG1\n';
const PACKAGE_HEADER_BYTES = 4 + 8;
const DIRECTORY_MODE = 0o555;
const MODE_BITS = 0o7777;

/** What must not be there, in words. */
export class TreeProblem extends Error {
  override readonly name = 'TreeProblem';
}

export interface TreeFile {
  readonly path: string;
  readonly content: Buffer;
}

/**
 * Takes away every right to write, then returns every file. Folders lose theirs before they are listed.
 * @param modeFor the mode that a file of this content must have.
 * @throws TreeProblem for anything but plain files and folders of the right mode.
 */
export function sealTree(root: string, modeFor: (content: Uint8Array) => number = modeOf): TreeFile[] {
  const files: TreeFile[] = [];
  const visit = (folder: string, prefix: string): void => {
    chmodSync(folder, DIRECTORY_MODE);
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
      if (entry.isDirectory()) visit(`${root}/${path}`, path);
      else files.push({ path, content: readPlainFile(root, path, entry, modeFor) });
    }
    const { mode } = lstatSync(folder);
    if ((mode & MODE_BITS) !== DIRECTORY_MODE) throw new TreeProblem(`${folder} is not read-only`);
  };
  visit(root, '');
  return files;
}

function readPlainFile(
  root: string,
  path: string,
  entry: Dirent,
  modeFor: (content: Uint8Array) => number,
): Buffer {
  if (!entry.isFile()) throw new TreeProblem(`${path} is not a plain file`);
  const file = openSync(`${root}/${path}`, READ);
  try {
    const status = fstatSync(file);
    if (!status.isFile() || status.nlink !== 1) throw new TreeProblem(`${path} is not a plain file`);
    const content = Buffer.allocUnsafe(status.size);
    let length = 0;
    while (length < content.length) {
      const read = readSync(file, content, length, content.length - length, null);
      if (read === 0) throw new TreeProblem(`${path} is shorter than it says`);
      length += read;
    }
    if ((status.mode & MODE_BITS) !== modeFor(content)) throw new TreeProblem(`${path} has the wrong mode`);
    return content;
  } finally {
    closeSync(file);
  }
}

/** The names in a folder, which must be exactly these. @throws TreeProblem */
export function mustHold(folder: string, names: readonly string[]): void {
  const found = readdirSync(folder);
  const extra = found.find((name) => !names.includes(name));
  if (extra !== undefined)
    throw new TreeProblem(`${folder} has ${JSON.stringify(extra)}, which nobody asked for`);
  const missing = names.find((name) => !found.includes(name));
  if (missing !== undefined) throw new TreeProblem(`${folder} lacks ${JSON.stringify(missing)}`);
}

/** Digest of the canonical bytes that these files make. */
export function treeDigest(files: readonly TreeFile[]): string {
  const entries = files.map(({ path, content }) => ({ path: Buffer.from(path, 'utf8'), content }));
  entries.sort((a, b) => Buffer.compare(a.path, b.path));
  const hash = createHash('sha256').update(PACKAGE_MAGIC);
  const header = Buffer.alloc(PACKAGE_HEADER_BYTES);
  for (const { path, content } of entries) {
    header.writeUInt32BE(path.length, 0);
    hash.update(header.subarray(0, 4)).update(path);
    header.writeBigUInt64BE(BigInt(content.length), 4);
    hash.update(header.subarray(4)).update(content);
  }
  return `sha256:${hash.digest('hex')}`;
}
