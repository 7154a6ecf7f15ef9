/** Starts sandboxes as Fargate starts them: what its task definition says, in one container with one network namespace. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { SANDBOX_PORT } from '../../../shared/contracts/daemon.ts';
import { DROPPED_CAPABILITIES, SANDBOX_MOUNT_OPTIONS } from '../../../shared/contracts/sandbox-container.ts';
import type { SandboxProfile } from '../../../shared/contracts/sandbox-profile.ts';
import { sandboxSize } from '../../../shared/contracts/sandbox-size.ts';
import type { LaunchedSandbox, SandboxHost } from '../sandboxd-task.ts';
import { docker, dockerLogs } from './docker-engine.ts';

const READY_MS = 20_000;

export interface ContainerTarget {
  readonly socket: string;
  readonly image: string;
  readonly network: string;
}

export interface ContainerHost extends SandboxHost {
  /** @param args of `docker run`, behind those of a task definition; the last wins. @returns the container's id. */
  start(env: Readonly<Record<string, string>>, profile: SandboxProfile, more?: RunOptions): Promise<string>;
  /** Runs a program beside the daemon as root, which is what no command may be. */
  exec(id: string, ...command: readonly string[]): Promise<string>;
  logs(id: string): Promise<string>;
  address(id: string): Promise<string>;
  inspect(id: string, format: string): Promise<string>;
}

export interface RunOptions {
  /** Of `docker run`, in place of those that begin alike. */
  readonly without?: readonly string[];
  readonly args?: readonly string[];
  /** What a task definition calls the command. */
  readonly command?: readonly string[];
}

/** Options of `docker run` that say what a task definition says. Each is one word, so that a test can leave one out. */
export function taskOptions(profile: SandboxProfile): string[] {
  const size = sandboxSize(profile);
  if ('problem' in size) throw new Error(`profile ${profile.name} ${size.problem}`);
  return [
    '--init',
    '--read-only',
    `--memory=${size.memory_mib}m`,
    `--memory-swap=${size.memory_mib}m`,
    ...DROPPED_CAPABILITIES.map((name) => `--cap-drop=${name}`),
    ...size.mounts.map(
      ({ path, mebibytes }) => `--tmpfs=${path}:${SANDBOX_MOUNT_OPTIONS.join(',')},size=${mebibytes}m`,
    ),
  ];
}

export function createContainerHost(target: ContainerTarget): ContainerHost {
  const started = new Set<string>();
  const engine = (...args: string[]): Promise<string> => docker(target.socket, args);
  const inspect: ContainerHost['inspect'] = (id, format) => engine('inspect', '--format', format, id);
  const address: ContainerHost['address'] = (id) =>
    inspect(id, `{{(index .NetworkSettings.Networks "${target.network}").IPAddress}}`);
  const start: ContainerHost['start'] = async (env, profile, more = {}) => {
    const options = taskOptions(profile).filter(
      (option) => !more.without?.some((prefix) => option.startsWith(prefix)),
    );
    const id = await engine(
      ...['run', '--detach', '--network', target.network, ...options, ...(more.args ?? [])],
      ...Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
      ...[target.image, ...(more.command ?? [])],
    );
    started.add(id);
    return id;
  };
  const remove = async (id: string): Promise<void> => {
    started.delete(id);
    await engine('rm', '--force', id);
  };
  return {
    start,
    inspect,
    exec: (id, ...command) => engine('exec', id, ...command),
    logs: (id) => dockerLogs(target.socket, id),
    address,
    launch: async (env, profile) => {
      const id = await start(env, profile);
      const host = await address(id);
      await accepting(host, async () => {
        if ((await inspect(id, '{{.State.Running}}')) === 'true') return;
        throw new Error(`the sandbox has ended: ${await dockerLogs(target.socket, id)}`);
      });
      const launched: LaunchedSandbox = {
        id,
        host,
        port: SANDBOX_PORT,
        kill: () => remove(id),
        // The one child of the container's init.
        status: () =>
          engine('exec', id, 'sh', '-c', 'read child rest </proc/1/task/1/children; cat /proc/$child/status'),
      };
      return launched;
    },
    close: async () => {
      await Promise.all([...started].map(remove));
    },
  };
}

/** @param check throws when there is nothing to wait for any more. */
async function accepting(host: string, check: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + READY_MS;
  for (let attempt = 1; !(await accepts(host)); attempt += 1) {
    if (attempt % 20 === 0) await check();
    if (Date.now() > deadline) throw new Error(`the sandbox does not listen after ${READY_MS} ms`);
    await sleep(20);
  }
}

const accepts = (host: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(SANDBOX_PORT, host, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
