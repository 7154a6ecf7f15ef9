/**
 * The two seccomp programs. `task` surrounds everything in a task: it leaves the daemon what it needs to build
 * the command's sandbox (namespaces, mounts, netlink for its loopback) and takes away the rest of the kernel's
 * attack surface. `command` is added for the command: no namespaces, no mounts, Unix sockets only.
 */
import {
  allow,
  andConstant,
  assemble,
  type BpfInstruction,
  fail,
  killProcess,
  loadArchitecture,
  loadArgument,
  loadNumber,
  unlessOneOf,
  whenGreater,
  whenOneOf,
} from './bpf.ts';
import {
  type Architecture,
  AUDIT_ARCHITECTURE,
  NEWEST_KNOWN_CALL,
  type SyscallName,
  syscallNumbers,
} from './syscall-numbers.ts';

const ERRNO = { EPERM: 1, ENOSYS: 38, EAFNOSUPPORT: 97 } as const;
const FAMILY = { unix: 1, netlink: 16 } as const;
/** Terminal requests that type into, or paste into, a terminal of somebody else. */
const TERMINAL_INJECTION = [0x5412, 0x541c];
/** CLONE_NEW{NS,CGROUP,UTS,IPC,USER,PID,NET}; CLONE_NEWTIME is no flag of clone. */
const NAMESPACE_FLAGS = 0x7e02_0000;
/** Linux, its read-implies-exec twin, and the query. */
const PERSONALITIES = [0x0, 0x0008, 0xffff_ffff];

/** Reaches other processes, the kernel or the host's state, or gets around rlimits and filters. */
const DENIED_TO_ALL = [
  'acct',
  'add_key',
  'adjtimex',
  'bpf',
  'clock_adjtime',
  'clock_settime',
  'delete_module',
  'fanotify_init',
  'finit_module',
  'init_module',
  'io_uring_enter',
  'io_uring_register',
  'io_uring_setup',
  'ioperm',
  'iopl',
  'kcmp',
  'kexec_file_load',
  'kexec_load',
  'keyctl',
  'lookup_dcookie',
  'mbind',
  'memfd_create',
  'memfd_secret',
  'migrate_pages',
  'modify_ldt',
  'move_pages',
  'msgctl',
  'msgget',
  'msgrcv',
  'msgsnd',
  'name_to_handle_at',
  'nfsservctl',
  'open_by_handle_at',
  'perf_event_open',
  'pidfd_getfd',
  'process_madvise',
  'process_vm_readv',
  'process_vm_writev',
  'ptrace',
  'quotactl',
  'quotactl_fd',
  'reboot',
  'request_key',
  'semctl',
  'semget',
  'semop',
  'semtimedop',
  'set_mempolicy',
  'set_mempolicy_home_node',
  'setns',
  'settimeofday',
  'shmat',
  'shmctl',
  'shmdt',
  'shmget',
  'swapoff',
  'swapon',
  'syslog',
  'uselib',
  'userfaultfd',
  'vhangup',
] as const satisfies readonly SyscallName[];

/** What bubblewrap needs and a command does not. */
const DENIED_TO_COMMANDS = [
  'chroot',
  'fsconfig',
  'fsmount',
  'fsopen',
  'fspick',
  'mount',
  'mount_setattr',
  'move_mount',
  'open_tree',
  'open_tree_attr',
  'pivot_root',
  'setdomainname',
  'sethostname',
  'umount2',
  'unshare',
] as const satisfies readonly SyscallName[];

export function taskProgram(architecture: Architecture): BpfInstruction[] {
  return program(architecture, {
    denied: DENIED_TO_ALL,
    families: [FAMILY.unix, FAMILY.netlink],
    namespaces: true,
  });
}

export function commandProgram(architecture: Architecture): BpfInstruction[] {
  return program(architecture, {
    denied: [...DENIED_TO_ALL, ...DENIED_TO_COMMANDS],
    families: [FAMILY.unix],
    namespaces: false,
  });
}

/** Both programs as bytes, for this machine's architecture. */
export function seccompPrograms(architecture: Architecture): { task: Buffer; command: Buffer } {
  return { task: assemble(taskProgram(architecture)), command: assemble(commandProgram(architecture)) };
}

interface Policy {
  readonly denied: readonly SyscallName[];
  readonly families: readonly number[];
  readonly namespaces: boolean;
}

function program(architecture: Architecture, policy: Policy): BpfInstruction[] {
  const numbers = (...names: SyscallName[]): number[] => syscallNumbers(architecture, names);
  const forCalls = (names: SyscallName[], block: BpfInstruction[]): BpfInstruction[] =>
    // A block ends in a return, so the next rule finds the number in the accumulator again.
    whenOneOf(numbers(...names), [...block, allow()]);
  const clone = [loadArgument(0), andConstant(NAMESPACE_FLAGS), ...unlessOneOf([0], [fail(ERRNO.EPERM)])];
  return [
    loadArchitecture(),
    ...unlessOneOf([AUDIT_ARCHITECTURE[architecture]], [killProcess()]),
    loadNumber(),
    // x32 calls too are above the newest known number.
    ...whenGreater(NEWEST_KNOWN_CALL, [fail(ERRNO.ENOSYS)]),
    // Its flags lie behind a pointer; libraries then fall back to clone.
    ...whenOneOf(numbers('clone3'), [fail(ERRNO.ENOSYS)]),
    ...whenOneOf(syscallNumbers(architecture, policy.denied), [fail(ERRNO.EPERM)]),
    ...forCalls(
      ['socket', 'socketpair'],
      [loadArgument(0), ...unlessOneOf(policy.families, [fail(ERRNO.EAFNOSUPPORT)])],
    ),
    ...forCalls(['ioctl'], [loadArgument(1), ...whenOneOf(TERMINAL_INJECTION, [fail(ERRNO.EPERM)])]),
    ...forCalls(['personality'], [loadArgument(0), ...unlessOneOf(PERSONALITIES, [fail(ERRNO.EPERM)])]),
    ...(policy.namespaces ? [] : forCalls(['clone'], clone)),
    allow(),
  ];
}
