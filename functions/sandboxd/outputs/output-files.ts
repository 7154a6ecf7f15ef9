/**
 * What a command has left under /outputs. Every name there is hostile; its processes are dead, so nothing moves any
 * more, and still no link is ever followed: each folder is opened by itself, below the one before it.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  type Stats,
} from 'node:fs';
import type { OutputList } from '../../../shared/contracts/daemon.ts';
import { LIMITS } from '../../../shared/contracts/limits.ts';
import { DaemonError, errnoOf } from '../daemon-error.ts';
import { pathProblem, safePath } from '../materialize/safe-path.ts';

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
/** Refusals are named up to here, so that the answer stays small. */
const SHOWN_PATH_LENGTH = 256;

interface Walk {
  readonly list: OutputList;
  entries: number;
}

export function listOutputs(root: string): OutputList {
  const walk: Walk = { list: { files: [], refused: [], truncated: false }, entries: 0 };
  const descriptor = openFolder(root);
  try {
    visitFolder(walk, descriptor, '');
  } finally {
    closeSync(descriptor);
  }
  return walk.list;
}

function visitFolder(walk: Walk, folder: number, prefix: string): void {
  const base = `/proc/self/fd/${folder}`;
  for (const name of namesIn(walk, base)) visitEntry(walk, base, name, prefix);
}

/** Sorted, and no more of them than may still be looked at: a folder can have millions. */
function namesIn(walk: Walk, folder: string): Buffer[] {
  const names: Buffer[] = [];
  // Latin-1 keeps every byte of a name.
  const handle = opendirSync(folder, { encoding: 'latin1' });
  try {
    for (let entry = handle.readSync(); entry !== null; entry = handle.readSync()) {
      if (walk.entries >= LIMITS.outputEntries) {
        walk.list.truncated = true;
        break;
      }
      walk.entries += 1;
      names.push(Buffer.from(entry.name, 'latin1'));
    }
  } finally {
    handle.closeSync();
  }
  return names.sort(Buffer.compare);
}

function visitEntry(walk: Walk, base: string, name: Buffer, prefix: string): void {
  const text = name.toString('utf8');
  const path = prefix === '' ? text : `${prefix}/${text}`;
  const refuse = (reason: string): number =>
    walk.list.refused.push({ path: path.toWellFormed().slice(0, SHOWN_PATH_LENGTH), reason });
  const problem = nameProblem(name, text) ?? pathProblem(path);
  if (problem !== undefined) {
    refuse(`its path ${problem}`);
    return;
  }
  const status = lstatSync(`${base}/${text}`);
  if (!status.isDirectory()) {
    const reason = refusalOf(status);
    if (reason === undefined) walk.list.files.push({ path, size_bytes: status.size });
    else refuse(reason);
    return;
  }
  const child = openFolder(`${base}/${text}`);
  try {
    visitFolder(walk, child, path);
  } finally {
    closeSync(child);
  }
}

const nameProblem = (name: Buffer, text: string): string | undefined =>
  Buffer.from(text, 'utf8').equals(name) ? undefined : 'is not UTF-8';

/** Why a file is not collected, or undefined. */
function refusalOf(status: Stats): string | undefined {
  if (status.isSymbolicLink()) return 'it is a symbolic link';
  if (!status.isFile()) return 'it is not a regular file';
  if (status.nlink !== 1) return 'it is a hard link of another file';
  if (status.size > LIMITS.outputBytes) return `it has over ${LIMITS.outputBytes} bytes`;
  return undefined;
}

/**
 * @returns an open descriptor, owned by the caller, and the size at that moment.
 * @throws DaemonError `not_found`, or `bad_request` with the reason to refuse.
 */
export function openOutput(root: string, path: string): { descriptor: number; size: number } {
  const segments = safePath(path).split('/');
  const name = segments.pop() ?? '';
  let folder = openFolder(root);
  try {
    for (const segment of segments) {
      const next = openFolder(`/proc/self/fd/${folder}/${segment}`);
      closeSync(folder);
      folder = next;
    }
    return openFile(`/proc/self/fd/${folder}/${name}`, path);
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errnoOf(error) ?? '')) throw error;
    throw new DaemonError('not_found', `there is no output ${JSON.stringify(path)}`, { cause: error });
  } finally {
    closeSync(folder);
  }
}

function openFile(location: string, path: string): { descriptor: number; size: number } {
  // Before it is opened: opening a device can have effects of its own.
  const refusal = refusalOf(lstatSync(location));
  if (refusal !== undefined) throw refused(path, refusal);
  const descriptor = openReadable(location, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0o400);
  const status = fstatSync(descriptor);
  const late = refusalOf(status);
  if (late === undefined) return { descriptor, size: status.size };
  closeSync(descriptor);
  throw refused(path, late);
}

const refused = (path: string, reason: string): DaemonError =>
  new DaemonError('bad_request', `output ${JSON.stringify(path)} is refused: ${reason}`);

function openFolder(location: string): number {
  const folder = openReadable(location, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0o500);
  if ((fstatSync(folder).mode & 0o500) !== 0o500) fchmodSync(folder, 0o500);
  return folder;
}

/** A command may have taken its own files' read permission away; nothing of it is left that could mind. */
function openReadable(location: string, flags: number, mode: number): number {
  try {
    return openSync(location, flags);
  } catch (error) {
    if (errnoOf(error) !== 'EACCES' || lstatSync(location).isSymbolicLink()) throw error;
    chmodSync(location, mode);
    return openSync(location, flags);
  }
}
