/** The sandbox image as it is deployed, on a Debian 13 that is made here, because tests pull nothing. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { stageSandboxImage } from '../../../infra/sandbox-image/stage-image.ts';
import { docker } from './docker-engine.ts';

const BASE = 'cognition-test-base:trixie';
const SYSTEM = 'cognition-test-system:trixie';
const IMAGE = 'cognition-test-sandbox:latest';
/** Then it is made again, with what Debian has fixed since. */
const BASE_DAYS = 14;
const root = fileURLToPath(new URL('../../../', import.meta.url));
const run = promisify(execFile);

/** @returns the image's name. */
export async function buildSandboxImage(socket: string): Promise<string> {
  if (!(await isRecent(socket, BASE))) await makeBase(socket);
  const context = await mkdtemp('/tmp/cognition-image-');
  try {
    const architecture = process.arch === 'arm64' ? 'arm64' : 'x64';
    const staged = await stageSandboxImage({ root, out: join(context, 'context'), architecture });
    const build = ['build', '--quiet', '--network', 'host', '--build-arg', `BASE=${BASE}`, ...proxyArgs()];
    // A name of its own keeps the system's layer, which takes longest, from being tidied away.
    await docker(socket, [...build, '--target', 'system', '--tag', SYSTEM, staged]);
    await docker(socket, [...build, '--tag', IMAGE, staged]);
    await docker(socket, ['image', 'prune', '--force']);
  } finally {
    await rm(context, { recursive: true, force: true });
  }
  return IMAGE;
}

async function isRecent(socket: string, image: string): Promise<boolean> {
  try {
    const created = await docker(socket, ['image', 'inspect', '--format', '{{.Created}}', image]);
    return Date.now() - Date.parse(created) < BASE_DAYS * 86_400_000;
  } catch {
    return false;
  }
}

async function makeBase(socket: string): Promise<void> {
  const folder = await mkdtemp('/tmp/cognition-debian-');
  try {
    await run('debootstrap', ['--variant=minbase', 'trixie', folder, mirror()], {
      env: { ...process.env, ...proxyEnv() },
      maxBuffer: 64 * 1024 * 1024,
    });
    const pack =
      'tar -C "$0" --exclude="./var/cache/apt/archives/*.deb" --exclude="./dev/*" -c . | docker import - "$1"';
    await run('sh', ['-c', pack, folder, BASE], { env: { ...process.env, DOCKER_HOST: `unix://${socket}` } });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Where this machine has its own packages from. */
function mirror(): string {
  const { stdout } = spawnSync(
    'apt-get',
    ['indextargets', '--format', '$(REPO_URI)', 'Identifier: Packages'],
    {
      encoding: 'utf8',
    },
  );
  const own = stdout?.split('\n').find((uri) => /debian\/?$/.test(uri) && !uri.includes('security'));
  return own ?? 'http://deb.debian.org/debian';
}

function proxyEnv(): Record<string, string> {
  const { stdout } = spawnSync('apt-config', ['shell', 'PROXY', 'Acquire::http::Proxy'], {
    encoding: 'utf8',
  });
  const proxy = /^PROXY='(.+)'$/m.exec(stdout ?? '')?.[1];
  return proxy === undefined ? {} : { http_proxy: proxy };
}

const proxyArgs = (): string[] =>
  Object.entries(proxyEnv()).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
