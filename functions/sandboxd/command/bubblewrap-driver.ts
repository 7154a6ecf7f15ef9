/**
 * Commands in a bubblewrap sandbox inside the task's own: user, pid, ipc, uts, cgroup and network namespaces of
 * their own, /skills and inputs read-only, the command's seccomp program, and nothing of the daemon in sight.
 */
import { spawn } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, readlinkSync } from 'node:fs';
import { Readable } from 'node:stream';
import type { Architecture } from '../seccomp/syscall-numbers.ts';
import type { CommandDriver, CommandLimits } from './command-driver.ts';
import { checkCommandIdentity } from './command-identity.ts';
import { COMMAND_INIT } from './command-init.ts';
import { initArgs, readyCommand } from './init-process.ts';

const REPORT_BYTES = 4_096;

export interface BubblewrapDriverOptions {
  readonly architecture: Architecture;
  readonly limits: CommandLimits;
  /** File of the command's seccomp program. */
  readonly seccomp_file: string;
  /** Where the broker's socket lies; the command sees this folder. */
  readonly broker_folder: string;
  /** bubblewrap 0.8 and later can close the door to further user namespaces by itself. */
  readonly disable_userns: boolean;
  /** Seccomp filters around the daemon; the command must have one more. */
  readonly task_filters: number;
}

export function createBubblewrapDriver(options: BubblewrapDriverOptions): CommandDriver {
  const args = bubblewrapArgs(options);
  return {
    prepare: async () => {
      const seccomp = openSync(options.seccomp_file, constants.O_RDONLY);
      // Descriptors in bubblewrap: 3 control channel of the init, 4 status of bubblewrap, 5 seccomp program.
      const child = spawn('/usr/bin/bwrap', args, {
        cwd: '/',
        env: {},
        stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe', seccomp],
      });
      closeSync(seccomp);
      const report = child.stdio[4];
      if (!(report instanceof Readable)) throw new Error('the status pipe of bubblewrap is missing');
      return await readyCommand(child, {
        init_pid: childPid(report),
        check: (facts) => checkCommandIdentity(facts, options.task_filters),
        kill_group: false,
      });
    },
  };
}

function bubblewrapArgs(options: BubblewrapDriverOptions): string[] {
  return [
    ...[
      '--unshare-user',
      '--unshare-pid',
      '--unshare-ipc',
      '--unshare-uts',
      '--unshare-cgroup',
      '--unshare-net',
    ],
    ...(options.disable_userns ? ['--disable-userns'] : []),
    ...['--uid', '65534', '--gid', '65534', '--hostname', 'sandbox', '--as-pid-1', '--die-with-parent'],
    ...['--new-session', '--clearenv', '--cap-drop', 'ALL', '--seccomp', '5', '--json-status-fd', '4'],
    ...['--ro-bind', '/usr', '/usr', ...systemLinks(), '--ro-bind', '/etc', '/etc'],
    ...['--ro-bind', '/opt/node', '/opt/node', '--ro-bind', '/skills', '/skills'],
    ...['--bind', '/workspace', '/workspace', '--ro-bind', '/workspace/inputs', '/workspace/inputs'],
    ...['--bind', '/outputs', '/outputs', '--bind', '/tmp', '/tmp', '--dev-bind', '/dev', '/dev'],
    ...['--ro-bind', options.broker_folder, options.broker_folder, '--proc', '/proc', '--remount-ro', '/'],
    ...['--chdir', '/workspace', '--', '/usr/bin/perl', '-e', COMMAND_INIT],
    ...initArgs({ architecture: options.architecture, limits: options.limits, isolated: true }),
  ];
}

/** /bin and its like, as the task has them. */
function systemLinks(): string[] {
  return ['/bin', '/sbin', '/lib', '/lib32', '/lib64'].flatMap((path) => {
    if (!existsSync(path)) return [];
    try {
      return ['--symlink', readlinkSync(path), path];
    } catch {
      return ['--ro-bind', path, path];
    }
  });
}

/** The first thing that bubblewrap reports: the init's number among the daemon's processes. */
function childPid(report: Readable): Promise<number> {
  return new Promise((resolve) => {
    let text = '';
    report.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString('latin1')).slice(0, REPORT_BYTES);
      const pid = /"child-pid": (\d+)/.exec(text)?.[1];
      if (pid !== undefined) resolve(Number(pid));
    });
    report.on('error', () => undefined);
  });
}
