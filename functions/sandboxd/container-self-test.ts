/**
 * What a container must be, and what its task must not have, before the daemon serves. What the command's identity
 * must be is tested from inside it (command-identity.ts).
 */
import { readFileSync } from 'node:fs';
import { SANDBOX_CAPABILITIES } from '../../shared/contracts/sandbox-container.ts';
import {
  createFindings,
  type Findings,
  isWritable,
  ownStatus,
  processesInSight,
} from './own-surroundings.ts';

/** Bits of SANDBOX_CAPABILITIES, by linux/capability.h. */
const BITS = { CHOWN: 0, DAC_OVERRIDE: 1, FOWNER: 3, KILL: 5, SETGID: 6, SETUID: 7, SETPCAP: 8 } as const;
const CAPABILITIES = SANDBOX_CAPABILITIES.reduce((all, name) => all | (1n << BigInt(BITS[name])), 0n);
/** Each a mount of its own, of limited size, in memory. */
const FOLDERS = ['/tmp', '/skills', '/workspace', '/outputs', '/run'];
/** Programs are started from these. */
const EXECUTABLE = ['/tmp', '/skills', '/workspace'];
/** A task of ours has no role and no key. One that has is not what was deployed. */
const CREDENTIALS =
  /^AWS_(?:CONTAINER_(?:CREDENTIALS|AUTHORIZATION)_|ACCESS_KEY_ID$|SECRET_ACCESS_KEY$|SESSION_TOKEN$|WEB_IDENTITY_|ROLE_ARN$)/;

/**
 * @returns how many seccomp filters surround the daemon; the runtime may have set one, or none.
 * @throws Error naming everything that is wrong.
 */
export function containerSelfTest(): number {
  const field = ownStatus();
  const findings = createFindings();
  const { must } = findings;
  must(`its user is ${field('Uid')} and not root`, field('Uid') === '0');
  for (const set of ['CapEff', 'CapBnd']) {
    const found = field(set);
    const right = /^[0-9a-f]+$/.test(found) && BigInt(`0x${found}`) === CAPABILITIES;
    must(`${set} is ${found} instead of ${CAPABILITIES.toString(16).padStart(16, '0')}`, right);
  }
  const pids = processesInSight();
  must(
    `processes ${pids.join(',')} are in sight, instead of an init and process ${process.pid}`,
    pids.length === 2 && process.pid !== 1 && process.ppid === 1,
  );
  for (const folder of ['/', '/usr', '/etc', '/opt']) must(`${folder} can be written`, !isWritable(folder));
  testMounts(findings);
  const names = Object.keys(process.env).filter((name) => CREDENTIALS.test(name));
  must(`the task has credentials (${names.join(', ')}); it must have no role`, names.length === 0);
  findings.conclude();
  return Number(field('Seccomp_filters')) || 0;
}

function testMounts({ must }: Findings): void {
  const mounts = new Map(
    readFileSync('/proc/self/mounts', 'latin1')
      .split('\n')
      .map((line) => line.split(' '))
      .map(
        ([, path = '', type = '', options = '']) => [path, { type, options: options.split(',') }] as const,
      ),
  );
  for (const folder of FOLDERS) {
    const mount = mounts.get(folder);
    if (mount === undefined || mount.type !== 'tmpfs') {
      must(`${folder} is no tmpfs mount`, false);
      continue;
    }
    for (const option of ['rw', 'nosuid', 'nodev'])
      must(`${folder} is not ${option}`, mount.options.includes(option));
    const sized = mount.options.some((option) => option.startsWith('size='));
    must(`${folder} has no size`, sized);
    if (EXECUTABLE.includes(folder)) must(`${folder} is noexec`, !mount.options.includes('noexec'));
  }
}
