/** Arguments of the bubblewrap around a whole task. Every namespace is named: --unshare-all may quietly do less. */
import { existsSync } from 'node:fs';
import { bubblewrapArgs, systemLinks } from '../../../../functions/sandboxd/command/bubblewrap-args.ts';
import { commandLimits } from '../../../../functions/sandboxd/command/command-limits.ts';
import { TASK_ENTRY } from '../../../../functions/sandboxd/command/task-entry.ts';
import type { SandboxProfile } from '../../../../shared/contracts/sandbox-profile.ts';
import type { TaskImage } from './task-image.ts';

/** Descriptors of the outer bubblewrap: what the daemon gets, and what bubblewrap reads itself. */
export const OUTER_FDS = { transport: 3, report: 4, args: 5, seccomp: 6, lifeline: 7 } as const;

const SMALL_BYTES = 1024 * 1024;
const DAEMON_UID = '1000';
const BROKER_FOLDER = '/run/cognition';

export function outerSandboxArgs(
  image: TaskImage,
  profile: SandboxProfile,
  env: Readonly<Record<string, string>>,
): string[] {
  const tmpfs = (path: string, bytes: number, mode = '0755'): string[] => [
    ...['--perms', mode, '--size', String(bytes), '--tmpfs', path],
  ];
  const half = (bytes: number): number => Math.ceil(bytes / 2);
  return [
    ...[
      '--unshare-user',
      '--unshare-pid',
      '--unshare-net',
      '--unshare-ipc',
      '--unshare-uts',
      '--unshare-cgroup',
    ],
    ...[
      '--uid',
      DAEMON_UID,
      '--gid',
      DAEMON_UID,
      '--hostname',
      'sandbox',
      '--die-with-parent',
      '--new-session',
    ],
    // The daemon is init: when it is gone the kernel has killed all the others, and bubblewrap ends only then.
    ...['--as-pid-1', '--cap-drop', 'ALL', '--seccomp', String(OUTER_FDS.seccomp)],
    ...['--json-status-fd', String(OUTER_FDS.report), '--clearenv'],
    ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
    ...systemFolders(),
    ...['--ro-bind', image.etc, '/etc', '--ro-bind', image.node, '/opt/node'],
    ...['--ro-bind', image.daemon, '/opt/sandboxd', '--proc', '/proc', '--dev', '/dev'],
    ...tmpfs('/dev/shm', half(half(profile.workspace_bytes)), '1777'),
    ...tmpfs('/run', SMALL_BYTES),
    ...tmpfs('/tmp', half(profile.workspace_bytes), '1777'),
    // Packages are memory too.
    ...tmpfs('/skills', half(profile.memory_bytes)),
    ...tmpfs('/workspace', profile.workspace_bytes),
    ...tmpfs('/outputs', profile.workspace_bytes),
    // What the command's sandbox binds has to be there first.
    ...['--dir', '/workspace/inputs', '--dir', BROKER_FOLDER],
    ...['--remount-ro', '/dev', '--remount-ro', '/', '--chdir', '/'],
  ];
}

/** bubblewrap takes options from a descriptor, but not what to start. */
export function taskCommand(profile: SandboxProfile, disableUserns: boolean): string[] {
  const sandbox = bubblewrapArgs({
    architecture: process.arch === 'arm64' ? 'arm64' : 'x64',
    limits: commandLimits(profile),
    broker_folder: BROKER_FOLDER,
    disable_userns: disableUserns,
    fds: { control: 'CONTROL', report: 'REPORT', seccomp: 'SECCOMP' },
  });
  const entry = ['/opt/sandboxd/command.bpf', String(sandbox.length), ...sandbox];
  return ['--', '/usr/bin/perl', '-e', TASK_ENTRY, ...entry, '/opt/node/bin/node', ...NODE_ARGS, DAEMON];
}

const DAEMON = '/opt/sandboxd/sandboxd.cjs';
/** A daemon computes nothing that helper threads of V8 could take off it, and each costs a start. */
const NODE_ARGS = ['--v8-pool-size=0', '--max-old-space-size=256'];

/** /usr without what an administrator has added to it, and the names that lead there. */
function systemFolders(): string[] {
  const hidden = existsSync('/usr/local')
    ? ['--size', String(SMALL_BYTES), '--tmpfs', '/usr/local', '--remount-ro', '/usr/local']
    : [];
  return ['--ro-bind', '/usr', '/usr', ...hidden, ...systemLinks()];
}
