/**
 * A Docker engine of the tests' own. It is installed from the system's packages where it is missing, started by hand
 * on a socket of its own, and ends with the tests. It changes no firewall rule and no route of the machine.
 */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

/** Images and layers are kept from one run to the next: a base system takes half a minute to make. */
const CACHE = '/var/cache/cognition-container-tests';
const START_MS = 60_000;
const STOP_MS = 30_000;
const OUTPUT_BYTES = 64 * 1024 * 1024;

export interface DockerEngine {
  readonly socket: string;
  stop(): Promise<void>;
}

export async function startDockerEngine(): Promise<DockerEngine> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    throw new Error(
      'the container form is tested on Linux as root only: it starts a Docker engine of its own',
    );
  }
  installPackages([
    ['docker.io', '/usr/sbin/dockerd'],
    ['debootstrap', '/usr/sbin/debootstrap'],
  ]);
  mkdirSync(CACHE, { recursive: true, mode: 0o700 });
  const held = await lock();
  const folder = await mkdtemp('/tmp/cognition-docker-');
  const engine = startEngine(folder);
  const stop = async (): Promise<void> => {
    await endEngine(engine);
    await rm(folder, { recursive: true, force: true });
    held.close();
  };
  try {
    await answering(engine, join(folder, 'docker.sock'), join(folder, 'log'));
  } catch (error) {
    await stop();
    throw error;
  }
  return { socket: join(folder, 'docker.sock'), stop };
}

function startEngine(folder: string): ChildProcess {
  const log = openSync(join(folder, 'log'), 'w');
  const child = spawn(
    'setpriv',
    [
      // However the tests end, all that the engine has started and mounted goes with its namespaces.
      ...['--pdeathsig', 'KILL', 'unshare', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'],
      ...[
        '/usr/sbin/dockerd',
        '--host',
        `unix://${folder}/docker.sock`,
        '--data-root',
        join(CACHE, 'docker'),
      ],
      ...['--exec-root', join(folder, 'exec'), '--pidfile', join(folder, 'pid')],
      ...[
        '--bridge=none',
        '--iptables=false',
        '--ip6tables=false',
        '--ip-forward=false',
        '--userland-proxy=false',
      ],
    ],
    { stdio: ['ignore', log, log], env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' } },
  );
  closeSync(log);
  return child;
}

/** An engine that is asked to end takes its network devices and control groups away. */
async function endEngine(engine: ChildProcess): Promise<void> {
  if (engine.exitCode !== null || engine.signalCode !== null) return;
  const ended = new Promise((resolve) => engine.once('exit', resolve));
  const children = readFileSync(`/proc/${engine.pid}/task/${engine.pid}/children`, 'utf8').trim();
  if (children !== '') process.kill(Number(children.split(' ')[0]), 'SIGTERM');
  const late = setTimeout(() => engine.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(late);
}

async function answering(engine: ChildProcess, socket: string, log: string): Promise<void> {
  const deadline = Date.now() + START_MS;
  for (;;) {
    try {
      await docker(socket, ['version']);
      return;
    } catch {
      if (engine.exitCode !== null || Date.now() > deadline) {
        throw new Error(`the Docker engine does not start:\n${readFileSync(log, 'utf8').slice(-4_000)}`);
      }
      await sleep(100);
    }
  }
}

/** @returns what it prints. */
export const docker = async (socket: string, args: readonly string[]): Promise<string> =>
  (await callDocker(socket, args)).stdout.trim();

/** @returns what a container has written. */
export async function dockerLogs(socket: string, id: string): Promise<string> {
  const { stdout, stderr } = await callDocker(socket, ['logs', id]);
  return stdout + stderr;
}

async function callDocker(
  socket: string,
  args: readonly string[],
): Promise<{ stdout: string; stderr: string }> {
  // The builder of old, which every engine has; the newer one is a plugin.
  const env = { PATH: process.env.PATH, DOCKER_HOST: `unix://${socket}`, DOCKER_BUILDKIT: '0', HOME: CACHE };
  return await promisify(execFile)('docker', [...args], { env, maxBuffer: OUTPUT_BYTES });
}

/** One engine at a time uses the cache: whoever holds this name, which goes with its process. */
function lock(): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (cause) => {
      reject(new Error('another process tests the container form; only one can at a time', { cause }));
    });
    server.listen('\0cognition-container-tests', () => resolve(server));
  });
}

function installPackages(wanted: readonly (readonly [name: string, path: string])[]): void {
  const missing = wanted.filter(([, path]) => !existsSync(path)).map(([name]) => name);
  if (missing.length === 0) return;
  const apt = (...args: string[]): boolean =>
    spawnSync('apt-get', ['-qq', ...args], {
      stdio: ['ignore', 2, 2],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    }).status === 0;
  const install = (): boolean => apt('install', '--yes', '--no-install-recommends', ...missing);
  if (!(install() || (apt('update') && install()))) {
    throw new Error(`please install ${missing.join(' and ')}, e.g. \`apt-get install ${missing.join(' ')}\``);
  }
}
