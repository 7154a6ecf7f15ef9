/**
 * The sandbox of a command, inside the task's own: user, pid, ipc, uts, cgroup and network namespaces of its own,
 * /skills and inputs read-only, the command's seccomp program, and nothing of the daemon in sight.
 */
import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import type { Architecture } from '../seccomp/syscall-numbers.ts';
import type { CommandLimits } from './command-driver.ts';
import { COMMAND_INIT } from './command-init.ts';
import { initArgs } from './init-args.ts';

export interface BubblewrapOptions {
  readonly architecture: Architecture;
  readonly limits: CommandLimits;
  /** Where the broker's socket lies; the command sees this folder. */
  readonly broker_folder: string;
  /** bubblewrap 0.8 and later can close the door to further user namespaces by itself. */
  readonly disable_userns: boolean;
  /** Descriptors as bubblewrap finds them: control channel of the init, report of bubblewrap, seccomp program. */
  readonly fds: { readonly control: string; readonly report: string; readonly seccomp: string };
}

export function bubblewrapArgs(options: BubblewrapOptions): string[] {
  const { fds, broker_folder: broker } = options;
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
    ...['--new-session', '--clearenv', '--cap-drop', 'ALL'],
    ...['--seccomp', fds.seccomp, '--json-status-fd', fds.report],
    ...['--ro-bind', '/usr', '/usr', ...systemLinks(), '--ro-bind', '/etc', '/etc'],
    ...['--ro-bind', '/opt/node', '/opt/node', '--ro-bind', '/skills', '/skills'],
    ...['--bind', '/workspace', '/workspace', '--ro-bind', '/workspace/inputs', '/workspace/inputs'],
    ...['--bind', '/outputs', '/outputs', '--bind', '/tmp', '/tmp', '--dev-bind', '/dev', '/dev'],
    ...['--ro-bind', broker, broker, '--proc', '/proc', '--remount-ro', '/', '--chdir', '/workspace'],
    ...['--', '/usr/bin/perl', '-e', COMMAND_INIT],
    ...initArgs({ ...options, control: fds.control, isolated: true }),
  ];
}

/** /bin and its like, as this machine has them. */
export function systemLinks(): string[] {
  return ['/bin', '/sbin', '/lib', '/lib32', '/lib64'].flatMap((path) => {
    if (!existsSync(path)) return [];
    return lstatSync(path).isSymbolicLink()
      ? ['--symlink', readlinkSync(path), path]
      : ['--ro-bind', path, path];
  });
}
