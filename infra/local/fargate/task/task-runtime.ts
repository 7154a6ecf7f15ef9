/**
 * Starts tasks on this machine: each is bubblewrap around the daemon, which puts another one around its command. It
 * is probed once with a real task, and refuses to exist where that task is not what it must be.
 */
import type { Server } from 'node:net';
import { isMainThread } from 'node:worker_threads';
import type { SandboxProfile } from '../../../../shared/contracts/sandbox-profile.ts';
import { sandboxProfileSchema } from '../../../../shared/contracts/sandbox-profile.ts';
import { CognitionError } from '../../../../shared/domain/cognition-error.ts';
import { sha256Hex } from '../../../../shared/domain/sha256.ts';
import type { Logger } from '../../../../shared/ports/logger.ts';
import { findBubblewrap } from './find-bubblewrap.ts';
import { createIsolatedLauncher, type TaskLauncher } from './isolated-launcher.ts';
import { probeTask } from './probe-task.ts';
import { openStagingFolder } from './staging-folder.ts';
import { openTaskCgroups } from './task-cgroup.ts';
import { stageTaskImage, type TaskImage } from './task-image.ts';
import { createUnsafeLauncher } from './unsafe-launcher.ts';

export interface TaskProcess {
  readonly pid: number;
  readonly exited: Promise<{ code: number | null; signal: string | null; stderr_tail: string }>;
  /** SIGKILL to everything of the task; resolves when all of it is gone. */
  kill(): Promise<void>;
}

export interface TaskRuntime {
  readonly isolation: 'sandbox' | 'none';
  readonly warnings: readonly string[];
  /** SHA-256 over daemon bundle, Node's version, seccomp programs and profile. */
  imageIdentity(profile: SandboxProfile): string;
  /**
   * @param listener a listening TCP server without connections. The daemon inherits its socket and serves HTTP/1.1 on
   * it, as on Fargate, with nobody in between; calls that come early wait in its backlog. The runtime closes the
   * server in this process.
   */
  start(
    env: Readonly<Record<string, string>>,
    profile: SandboxProfile,
    listener: Server,
  ): Promise<TaskProcess>;
  /** Kills every task that is left. */
  close(): Promise<void>;
}

export interface TaskRuntimeOptions {
  readonly unsafe_no_isolation: boolean;
  /** Default: a folder of this user's own in the system's folder for temporary files. */
  readonly staging_dir?: string;
  readonly log: Logger;
}

const NODE_MAJOR = 24;
const NO_ISOLATION =
  'runs have NO ISOLATION from this machine: the explicit unsafe setting is on. Never use it for code of others.';

/** @throws CognitionError `sandbox_unavailable`, saying what to do about it. */
export async function createTaskRuntime(options: TaskRuntimeOptions): Promise<TaskRuntime> {
  if (process.platform !== 'linux') {
    throw new CognitionError('sandbox_unavailable', `runs need Linux; this is ${process.platform}`);
  }
  if (Number(process.versions.node.split('.')[0]) < NODE_MAJOR) {
    const message = `the Node that starts tasks also runs in them, and must be ${NODE_MAJOR} or later; this is ${process.version}: use the one in node_modules/.bin`;
    throw new CognitionError('sandbox_unavailable', message);
  }
  if (!isMainThread) {
    const message = 'tasks must be started from the main thread: they die with the thread that started them';
    throw new CognitionError('sandbox_unavailable', message);
  }
  // Before anything is built: the commonest fault has the shortest way to its message.
  const bubblewrap = options.unsafe_no_isolation ? undefined : await findBubblewrap();
  const image = await stageTaskImage(openStagingFolder(options.staging_dir));
  const warnings: string[] = [];
  const launcher = bubblewrap === undefined ? createUnsafeLauncher(image) : isolated();
  function isolated(): TaskLauncher {
    const isRoot = process.getuid?.() === 0;
    const cgroups = isRoot ? openTaskCgroups() : undefined;
    if (cgroups === undefined) warnings.push(noCgroup(isRoot));
    return createIsolatedLauncher({ image, cgroups, ...(bubblewrap ?? { path: '', disable_userns: false }) });
  }
  if (options.unsafe_no_isolation) warnings.push(NO_ISOLATION);
  for (const warning of warnings) options.log.warn(warning);
  const runtime = runtimeOf(launcher, image, options.unsafe_no_isolation ? 'none' : 'sandbox', warnings);
  try {
    await probeTask(runtime, sandboxProfileSchema.parse({ name: 'probe' }));
  } catch (error) {
    await runtime.close();
    throw error;
  }
  return runtime;
}

function runtimeOf(
  launcher: TaskLauncher,
  image: TaskImage,
  isolation: TaskRuntime['isolation'],
  warnings: readonly string[],
): TaskRuntime {
  const tasks = new Set<TaskProcess>();
  return {
    isolation,
    warnings,
    imageIdentity: (profile) =>
      `sha256:${sha256Hex(JSON.stringify([image.hash, isolation, sandboxProfileSchema.parse(profile)]))}`,
    start: async (env, profile, listener) => {
      const task = await launcher.launch(env, profile, listener);
      tasks.add(task);
      void task.exited.then(() => tasks.delete(task));
      return task;
    },
    close: async () => {
      await Promise.all([...tasks].map((task) => task.kill()));
      await launcher.close();
    },
  };
}

const noCgroup = (isRoot: boolean): string =>
  isRoot
    ? 'no cgroup can be made here: the memory of a task is limited for each of its processes only, not for all together'
    : 'as a plain user no cgroup can be made: the memory of a task is limited for each of its processes only, not for all together';
