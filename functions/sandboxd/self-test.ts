/** What the daemon's own surroundings must be. A daemon that finds anything else ends, and no sandbox is better. */
import { accessSync, constants, readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { errnoOf } from './daemon-error.ts';

/** The daemon, and bubblewrap and init of the command's sandbox. */
const PROCESSES = 3;

/**
 * @returns how many seccomp filters surround the daemon.
 * @throws Error naming everything that is wrong.
 */
export async function selfTest(): Promise<number> {
  const status = readFileSync('/proc/self/status', 'latin1');
  const field = (name: string): string =>
    new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(status)?.[1] ?? 'unknown';
  const wrong: string[] = [];
  const must = (what: string, holds: boolean): void => {
    if (!holds) wrong.push(what);
  };
  must(`capabilities are ${field('CapEff')}`, /^0+$/.test(field('CapEff')));
  must(`no_new_privs is ${field('NoNewPrivs')}`, field('NoNewPrivs') === '1');
  must(`seccomp mode is ${field('Seccomp')}`, field('Seccomp') === '2');
  const filters = Number(field('Seccomp_filters'));
  must('there is no seccomp filter', filters >= 1);
  const links = readFileSync('/proc/net/dev', 'latin1').matchAll(/^\s*(\S+?):/gm);
  const names = [...links].map((match) => match[1]).join(',');
  must(`network interfaces are ${names}`, names === 'lo');
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  must(`processes ${pids.join(',')} are in sight`, pids.length <= PROCESSES && process.pid === 1);
  for (const folder of ['/', '/usr', '/etc', '/opt/node', '/dev']) {
    must(`${folder} can be written`, !isWritable(folder));
  }
  const internet = await socketError();
  must(`an internet socket fails with ${internet}`, internet === 'EAFNOSUPPORT');
  if (wrong.length > 0) throw new Error(`the isolation of this task is incomplete: ${wrong.join('; ')}`);
  return filters;
}

/** Asked, not tried: where there is no isolation this must leave no trace. */
function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Fails when the socket is made, before any packet could leave. */
function socketError(): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: 9 });
    socket.once('connect', () => {
      socket.destroy();
      resolve('nothing');
    });
    socket.once('error', (error) => resolve(errnoOf(error) ?? 'an unknown error'));
  });
}
