/** Whom the folders of a container belong to, whatever its mounts were given. */
import { chmodSync, chownSync } from 'node:fs';

/**
 * For everyone, as /tmp is: what the daemon has put there, such as the inputs, the command can neither move nor
 * remove.
 */
const SHARED = 0o1777;
const DAEMONS = 0o755;

export function shareFolders(paths: {
  readonly skills: string;
  readonly workspace: string;
  readonly outputs: string;
  readonly tmp: string;
  readonly broker: string;
}): void {
  const set = (path: string, mode: number): void => {
    chownSync(path, 0, 0);
    chmodSync(path, mode);
  };
  for (const path of [paths.workspace, paths.outputs, paths.tmp]) set(path, SHARED);
  for (const path of [paths.skills, paths.broker]) set(path, DAEMONS);
}
