/**
 * A folder as a files map. The folder is hostile: it may come from anywhere, so no link is followed, nothing but
 * regular files is opened, and both the number of files and their bytes are bounded before they are read.
 */
import { constants, type Dirent } from 'node:fs';
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { TextDecoder } from 'node:util';
import { LIMITS } from '../../shared/contracts/limits.ts';
import { usage } from '../failure.ts';
import type { FolderProblem } from './folder-problem.ts';

export const IGNORED_NAMES: ReadonlySet<string> = new Set([
  '.git',
  'node_modules',
  '__pycache__',
  '.DS_Store',
]);

export interface PackageFolder {
  readonly files: ReadonlyMap<string, string>;
  /** Paths that were left out because of their names. */
  readonly ignored: readonly string[];
  readonly problems: readonly FolderProblem[];
}

interface Walk {
  readonly root: Buffer;
  readonly files: Map<string, string>;
  readonly ignored: string[];
  readonly problems: FolderProblem[];
  entries: number;
  bytes: number;
}

/** Of folders as well, so that empty ones cannot keep the walk busy. */
const MAX_ENTRIES = LIMITS.packageFiles * 4;

/** @throws CliFailure `usage` when it is no folder */
export async function readPackageFolder(folder: string): Promise<PackageFolder> {
  const info = await stat(folder).catch((error: NodeJS.ErrnoException) => {
    throw usage(
      `cannot read ${folder}: ${error.code ?? error.message}`,
      'name the folder that holds SKILL.md',
    );
  });
  if (!info.isDirectory()) throw usage(`${folder} is not a folder`, 'name the folder that holds SKILL.md');
  const walk: Walk = {
    root: Buffer.from(folder, 'utf8'),
    files: new Map(),
    ignored: [],
    problems: [],
    entries: 0,
    bytes: 0,
  };
  await walkFolder(walk, '');
  return walk;
}

const exhausted = (walk: Walk): boolean =>
  walk.entries > MAX_ENTRIES || walk.files.size > LIMITS.packageFiles || walk.bytes > LIMITS.packageBytes;

async function walkFolder(walk: Walk, below: string): Promise<void> {
  let entries: Dirent<Buffer>[];
  try {
    entries = await readdir(fullPath(walk, below), { withFileTypes: true, encoding: 'buffer' });
  } catch (error) {
    walk.problems.push(unreadable(below === '' ? '.' : below, error));
    return;
  }
  entries.sort((a, b) => Buffer.compare(a.name, b.name));
  for (const entry of entries) {
    if (exhausted(walk)) return;
    walk.entries += 1;
    if (walk.entries > MAX_ENTRIES) walk.problems.push(TOO_MANY);
    else await visit(walk, below, entry);
  }
}

async function visit(walk: Walk, below: string, entry: Dirent<Buffer>): Promise<void> {
  const name = decode(entry.name);
  if (name === undefined) {
    const shown = entry.name.toString('latin1');
    walk.problems.push(problem('path_not_utf8', `${below}${shown}`, 'the name is not UTF-8; rename it'));
    return;
  }
  const path = `${below}${name}`;
  if (IGNORED_NAMES.has(name)) walk.ignored.push(path);
  else if (entry.isSymbolicLink()) {
    walk.problems.push(
      problem('path_symlink', path, 'a symbolic link; put a copy of what it points to in its place'),
    );
  } else if (entry.isDirectory()) await walkFolder(walk, `${path}/`);
  else if (entry.isFile()) await addFile(walk, path);
  else walk.problems.push(problem('path_special_file', path, SPECIAL));
}

async function addFile(walk: Walk, path: string): Promise<void> {
  let handle: FileHandle | undefined;
  try {
    // Non-blocking, because a pipe may have taken the place of the file since it was listed.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    handle = await open(fullPath(walk, path), flags);
    const info = await handle.stat();
    if (!info.isFile()) {
      walk.problems.push(problem('path_special_file', path, SPECIAL));
      return;
    }
    const left = LIMITS.packageBytes - walk.bytes;
    const bytes = info.size > left ? undefined : await readAtMost(handle, left);
    if (bytes === undefined) {
      walk.bytes = LIMITS.packageBytes + 1;
      walk.problems.push(tooLarge(path));
      return;
    }
    walk.bytes += bytes.length;
    const text = decode(bytes);
    if (text === undefined) walk.problems.push(notUtf8(path));
    // Kept even so, that the rules of paths are applied to all of them.
    walk.files.set(path, text ?? '');
  } catch (error) {
    walk.problems.push(unreadable(path, error));
  } finally {
    await handle?.close();
  }
}

/** Undefined when there is more: the file may grow while it is read. */
async function readAtMost(handle: FileHandle, limit: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for (;;) {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(64 * 1024));
    if (bytesRead === 0) return Buffer.concat(chunks, length);
    length += bytesRead;
    if (length > limit) return undefined;
    chunks.push(buffer.subarray(0, bytesRead));
  }
}

const fullPath = (walk: Walk, path: string): Buffer =>
  Buffer.concat([walk.root, Buffer.from(`/${path}`, 'utf8')]);

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const problem = (code: FolderProblem['code'], path: string, message: string): FolderProblem => ({
  code,
  path,
  message,
});
const SPECIAL = 'neither a file nor a folder but a pipe, socket or device; remove it';
const TOO_MANY: FolderProblem = {
  code: 'package_too_many_files',
  message: `more than ${MAX_ENTRIES} files and folders were found, and the rest was not looked at; a package has at most ${LIMITS.packageFiles} files`,
};
const tooLarge = (path: string): FolderProblem =>
  problem(
    'package_too_large',
    path,
    `with this file the package passes ${LIMITS.packageBytes} bytes; give large data to runs with --input`,
  );
const notUtf8 = (path: string): FolderProblem =>
  problem(
    'content_not_utf8',
    path,
    'not UTF-8 text; save it as UTF-8, or give binary data to runs with --input',
  );
const unreadable = (path: string, error: unknown): FolderProblem => {
  const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  return problem('path_unreadable', path, `cannot be read (${reason}); check its permissions`);
};
