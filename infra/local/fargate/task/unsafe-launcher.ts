/** Starts the daemon as a plain child process: no isolation, behind the explicit unsafe setting. */
import { spawn } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DAEMON_ENV } from '../../../../functions/sandboxd/daemon-config.ts';
import { inheritListener } from './inherit-listener.ts';
import type { TaskLauncher } from './isolated-launcher.ts';
import { OUTER_FDS } from './outer-sandbox.ts';
import { supervise } from './supervise-task.ts';
import type { TaskImage } from './task-image.ts';

const LIFELINE_FD = 4;

export function createUnsafeLauncher(image: TaskImage): TaskLauncher {
  return {
    launch: async (env, _profile, listener) => {
      const root = await mkdtemp(join(tmpdir(), 'cognition-unsafe-'));
      const child = spawn(join(image.node, 'bin', 'node'), [join(image.daemon, 'sandboxd.cjs')], {
        cwd: '/',
        detached: true,
        env: {
          ...env,
          [DAEMON_ENV.listenFd]: String(OUTER_FDS.transport),
          [DAEMON_ENV.lifelineFd]: String(LIFELINE_FD),
          [DAEMON_ENV.form]: 'unsafe',
          [DAEMON_ENV.root]: root,
        },
        stdio: ['ignore', 'ignore', 'pipe', inheritListener(listener), 'pipe'],
      });
      listener.close();
      return supervise(child, {
        report: undefined,
        lifeline: child.stdio.at(LIFELINE_FD),
        kill_group: true,
        afterExit: () => removeTree(root),
      });
    },
    close: async () => undefined,
  };
}

/** A sealed package has folders that even their owner cannot empty. */
async function removeTree(root: string): Promise<void> {
  for (const entry of await readdir(root, { withFileTypes: true, recursive: true })) {
    if (entry.isDirectory()) await chmod(join(entry.parentPath, entry.name), 0o700);
  }
  await rm(root, { recursive: true, force: true });
}
