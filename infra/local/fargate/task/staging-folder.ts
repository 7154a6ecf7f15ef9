/** Where the files of tasks are staged: a folder that only this user can change and every user can enter. */
import { existsSync, lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CognitionError } from '../../../../shared/domain/cognition-error.ts';

/** Where temporary files may be; a private one, as some logins give root, is of no use to another user. */
const TEMPORARY_FOLDERS = [tmpdir(), '/tmp', '/var/tmp'];

/**
 * @param wanted default: one of this user's own in the system's folder for temporary files.
 * @throws CognitionError `sandbox_unavailable` for a folder that somebody else could change or tasks could not enter.
 */
export function openStagingFolder(wanted: string | undefined): string {
  const uid = process.getuid?.() ?? 0;
  const parent = TEMPORARY_FOLDERS.find((folder) => uid !== 0 || closedTo(folder) === undefined) ?? tmpdir();
  const folder = wanted ?? join(parent, `cognition-sandbox-${uid}`);
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const status = lstatSync(folder);
  if (!status.isDirectory() || status.uid !== uid || (status.mode & 0o022) !== 0) {
    throw unusable(folder, 'it is no folder of this user that nobody else can write to; remove it');
  }
  const closed = uid === 0 ? closedTo(folder) : undefined;
  if (closed === undefined) return realpathSync(folder);
  throw unusable(folder, `sandboxes run as another user, who cannot enter ${closed}`);
}

/** @returns the folder on the way there that other users cannot enter. */
function closedTo(folder: string): string | undefined {
  if (!existsSync(folder)) return folder;
  for (let parent = realpathSync(folder); ; parent = dirname(parent)) {
    if ((lstatSync(parent).mode & 0o001) === 0) return parent;
    if (parent === dirname(parent)) return undefined;
  }
}

const unusable = (folder: string, why: string): CognitionError =>
  new CognitionError('sandbox_unavailable', `sandboxes cannot use the staging folder ${folder}: ${why}`);
