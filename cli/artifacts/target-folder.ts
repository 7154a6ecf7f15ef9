/**
 * Where artifacts are written. Their names were chosen by a script, and the folder may hold anything: no path leads
 * out of it, no link in it is followed, and no file is replaced unless that was asked for.
 */
import { randomUUID } from 'node:crypto';
import { lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { checkPath } from '../../shared/domain/package/check-paths.ts';
import { ProblemList } from '../../shared/domain/package/problem-list.ts';
import { CliFailure } from '../failure.ts';

export interface TargetFolder {
  /** Finds out beforehand what `write` would refuse. @throws CliFailure */
  check(path: string): Promise<void>;
  /** @returns the path of the file */
  write(path: string, bytes: Uint8Array): Promise<string>;
}

export function openTargetFolder(folder: string, force: boolean): TargetFolder {
  return {
    check: async (path) => {
      const segments = safeSegments(path);
      for (let depth = 1; depth < segments.length; depth += 1) {
        if (!(await isOwnFolder(join(folder, ...segments.slice(0, depth))))) break;
      }
      const file = join(folder, ...segments);
      if (!force && (await kindOf(file)) !== 'absent') throw exists(file);
    },
    write: async (path, bytes) => {
      const segments = safeSegments(path);
      await mkdir(folder, { recursive: true });
      for (let depth = 1; depth < segments.length; depth += 1) {
        const below = join(folder, ...segments.slice(0, depth));
        if (!(await isOwnFolder(below))) await mkdir(below);
      }
      const file = join(folder, ...segments);
      await (force ? replaceFile(file, bytes) : createFile(file, bytes));
      return file;
    },
  };
}

function safeSegments(path: string): string[] {
  const problems = new ProblemList();
  checkPath(path, problems);
  const [problem] = problems.listed;
  if (problem !== undefined) {
    throw new CliFailure('refused_path', `not written: ${problem.message}`, {
      fix: 'fetch it by its name with --output - instead',
    });
  }
  return path.split('/');
}

async function kindOf(path: string): Promise<'absent' | 'folder' | 'link' | 'file'> {
  const info = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    if (error.code === 'ENOTDIR') throw refused(path, 'a file is where a folder should be');
    throw error;
  });
  if (info === undefined) return 'absent';
  if (info.isSymbolicLink()) return 'link';
  return info.isDirectory() ? 'folder' : 'file';
}

/** False where there is nothing yet. */
async function isOwnFolder(path: string): Promise<boolean> {
  const kind = await kindOf(path);
  if (kind === 'link') throw refused(path, 'a symbolic link is in the way');
  if (kind === 'file') throw refused(path, 'a file is where a folder should be');
  return kind === 'folder';
}

/** Exclusive creation follows no link. */
async function createFile(file: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(file, 'wx').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? exists(file) : error;
  });
  try {
    await handle.writeFile(bytes);
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}

/** A link that has the name is replaced, not followed. */
async function replaceFile(file: string, bytes: Uint8Array): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await createFile(temporary, bytes);
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

const exists = (file: string): CliFailure =>
  new CliFailure('file_exists', `${file} exists already`, { fix: 'give --force, or another --output' });
const refused = (path: string, why: string): CliFailure =>
  new CliFailure('refused_path', `${path}: ${why}`, { fix: 'remove it, or give another --output' });
