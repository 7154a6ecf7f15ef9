/** Where the files of tasks are staged: a folder that only this user can change and every user can enter. */
import { lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CognitionError } from '../../../../shared/domain/cognition-error.ts';

/**
 * @param wanted default: one of this user's own in the system's folder for temporary files.
 * @throws CognitionError `sandbox_unavailable` for a folder that somebody else could change or tasks could not enter.
 */
export function openStagingFolder(wanted: string | undefined): string {
  const uid = process.getuid?.() ?? 0;
  const folder = wanted ?? join(tmpdir(), `cognition-sandbox-${uid}`);
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const status = lstatSync(folder);
  if (!status.isDirectory() || status.uid !== uid || (status.mode & 0o022) !== 0) {
    throw unusable(folder, 'it is no folder of this user that nobody else can write to; remove it');
  }
  const real = realpathSync(folder);
  if (uid === 0) {
    for (let parent = real; parent !== dirname(parent); parent = dirname(parent)) {
      if ((lstatSync(parent).mode & 0o001) === 0) {
        throw unusable(
          folder,
          `sandboxes run as another user, who cannot enter ${parent}; name another staging folder`,
        );
      }
    }
  }
  return real;
}

const unusable = (folder: string, why: string): CognitionError =>
  new CognitionError('sandbox_unavailable', `sandboxes cannot use the staging folder ${folder}: ${why}`);
