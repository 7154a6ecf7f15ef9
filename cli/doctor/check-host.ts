/** What this machine has for sandboxes of a local server. Nothing of it matters when the server is elsewhere. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { CliIo } from '../io.ts';
import type { Check } from './check.ts';

const run = promisify(execFile);
const INSTALL = 'apt-get install bubblewrap python3';

export async function checkHost(env: CliIo['env']): Promise<Check[]> {
  const node: Check = { what: 'node', result: 'ok', found: process.version };
  if (process.platform !== 'linux') {
    const found = `${process.platform}: the registry works here, runs need Linux`;
    return [node, { what: 'sandbox', result: 'note', found }];
  }
  const [bwrap, python] = await Promise.all([
    version('bubblewrap', '/usr/bin/bwrap', env),
    version('python3', '/usr/bin/python3', env),
  ]);
  const namespaces = bwrap.result === 'ok' ? [await checkNamespaces(env)] : [];
  return [node, bwrap, ...namespaces, python];
}

/** Below /usr only: that is what a sandbox sees. */
async function version(what: string, program: string, env: CliIo['env']): Promise<Check> {
  try {
    const { stdout } = await run(program, ['--version'], { timeout: 10_000, env: plain(env) });
    return { what, result: 'ok', found: `${stdout.trim()} (${program})` };
  } catch {
    return {
      what,
      result: 'note',
      found: `${program} is not there, a local server needs it for runs`,
      fix: INSTALL,
    };
  }
}

/** As root it says nothing about other users, but a local server never starts a sandbox as root. */
async function checkNamespaces(env: CliIo['env']): Promise<Check> {
  const args = ['--unshare-user', '--unshare-pid', '--unshare-net', '--ro-bind', '/', '/', '/usr/bin/true'];
  const asRoot = process.getuid?.() === 0;
  try {
    const identity = asRoot ? { uid: NOBODY, gid: NOBODY } : {};
    await run('/usr/bin/bwrap', args, { timeout: 10_000, env: plain(env), cwd: '/', ...identity });
    const who = asRoot ? 'an unprivileged user (this is root) ' : '';
    return { what: 'user namespaces', result: 'ok', found: `${who}can make a sandbox` };
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n').slice(1);
    return {
      what: 'user namespaces',
      result: 'note',
      found: `bubblewrap cannot make a sandbox: ${reason ?? 'no reason given'}`,
      fix: 'allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone, AppArmor) for local runs',
    };
  }
}

const NOBODY = 65_534;
const plain = (env: CliIo['env']): NodeJS.ProcessEnv => ({ PATH: env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C' });
