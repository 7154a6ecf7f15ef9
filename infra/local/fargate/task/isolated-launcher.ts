/** Starts a task in its sandbox, under a user of its own where this process is root. */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import type { Server } from 'node:net';
import { Readable, Writable } from 'node:stream';
import { DAEMON_ENV } from '../../../../functions/sandboxd/daemon-config.ts';
import type { SandboxProfile } from '../../../../shared/contracts/sandbox-profile.ts';
import { inheritListener } from './inherit-listener.ts';
import { OUTER_FDS, outerSandboxArgs, taskCommand } from './outer-sandbox.ts';
import { supervise } from './supervise-task.ts';
import type { TaskCgroup, TaskCgroups } from './task-cgroup.ts';
import type { TaskImage } from './task-image.ts';
import type { TaskProcess } from './task-runtime.ts';

/** Above the numbers that systemd hands out; two servers start at different places. */
const FIRST_UID = 0x7000_0000;
const UIDS = 0x0fff_0000;

export interface TaskLauncher {
  launch(
    env: Readonly<Record<string, string>>,
    profile: SandboxProfile,
    listener: Server,
  ): Promise<TaskProcess>;
  close(): Promise<void>;
}

export interface IsolatedLauncherOptions {
  readonly image: TaskImage;
  readonly cgroups: TaskCgroups | undefined;
  readonly path: string;
  readonly disable_userns: boolean;
}

export function createIsolatedLauncher(options: IsolatedLauncherOptions): TaskLauncher {
  const { image, cgroups } = options;
  const isRoot = process.getuid?.() === 0;
  let next = randomInt(UIDS);
  return {
    launch: async (env, profile, listener) => {
      next = (next + 1) % UIDS;
      const uid = FIRST_UID + next;
      const cgroup = await cgroups?.take(profile);
      const daemonEnv = {
        ...env,
        TZ: 'UTC',
        [DAEMON_ENV.listenFd]: String(OUTER_FDS.transport),
        [DAEMON_ENV.lifelineFd]: String(OUTER_FDS.lifeline),
        [DAEMON_ENV.form]: 'bubblewrap',
      };
      return await launch(options.path, isRoot ? uid : undefined, {
        options: outerSandboxArgs(image, profile, daemonEnv),
        command: taskCommand(profile, options.disable_userns),
        seccomp_file: image.task_seccomp,
        listener,
        cgroup,
      });
    },
    close: async () => cgroups?.close(),
  };
}

interface Launch {
  /** Of bubblewrap. */
  readonly options: readonly string[];
  readonly command: readonly string[];
  readonly seccomp_file: string;
  readonly listener: Server;
  readonly cgroup: TaskCgroup | undefined;
}

async function launch(path: string, uid: number | undefined, task: Launch): Promise<TaskProcess> {
  const seccomp = openSync(task.seccomp_file, 'r');
  const transport = inheritListener(task.listener);
  const child = spawn(path, ['--args', String(OUTER_FDS.args), ...task.command], {
    cwd: '/',
    env: {},
    ...(uid === undefined ? {} : { uid, gid: uid }),
    stdio: ['ignore', 'ignore', 'pipe', transport, 'pipe', 'pipe', seccomp, 'pipe'],
  });
  closeSync(seccomp);
  task.listener.close();
  const streams: readonly unknown[] = child.stdio;
  const report = streams[OUTER_FDS.report];
  const args = streams[OUTER_FDS.args];
  if (!(report instanceof Readable && args instanceof Writable)) throw new Error('bubblewrap has no pipes');
  const started = supervise(child, {
    report,
    lifeline: streams[OUTER_FDS.lifeline],
    kill_group: false,
    afterExit: async () => task.cgroup?.release(),
  });
  try {
    // bubblewrap does nothing before it has read its arguments: until then it can be put where it belongs.
    if (child.pid !== undefined) await task.cgroup?.add(child.pid);
  } catch (error) {
    await started.kill();
    throw error;
  }
  args.on('error', () => undefined);
  args.end(`${task.options.join('\0')}\0`);
  return started;
}
