/** What the daemon's own surroundings must be. A daemon that finds anything else ends, and no sandbox is better. */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { errnoOf } from './daemon-error.ts';
import { createFindings, isWritable, ownStatus, processesInSight } from './own-surroundings.ts';

/** The daemon, and bubblewrap and init of the command's sandbox. */
const PROCESSES = 3;

/**
 * @returns how many seccomp filters surround the daemon.
 * @throws Error naming everything that is wrong.
 */
export async function selfTest(): Promise<number> {
  const field = ownStatus();
  const { must, conclude } = createFindings();
  must(`capabilities are ${field('CapEff')}`, /^0+$/.test(field('CapEff')));
  must(`no_new_privs is ${field('NoNewPrivs')}`, field('NoNewPrivs') === '1');
  must(`seccomp mode is ${field('Seccomp')}`, field('Seccomp') === '2');
  const filters = Number(field('Seccomp_filters'));
  must('there is no seccomp filter', filters >= 1);
  const links = readFileSync('/proc/net/dev', 'latin1').matchAll(/^\s*(\S+?):/gm);
  const names = [...links].map((match) => match[1]).join(',');
  must(`network interfaces are ${names}`, names === 'lo');
  const pids = processesInSight();
  must(`processes ${pids.join(',')} are in sight`, pids.length <= PROCESSES && process.pid === 1);
  for (const folder of ['/', '/usr', '/etc', '/opt/node', '/dev']) {
    must(`${folder} can be written`, !isWritable(folder));
  }
  const internet = await socketError();
  must(`an internet socket fails with ${internet}`, internet === 'EAFNOSUPPORT');
  conclude();
  return filters;
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
