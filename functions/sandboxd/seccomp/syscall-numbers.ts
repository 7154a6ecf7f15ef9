/** Numbers of the system calls that the filters name, from the kernel's tables for both architectures. */

export type Architecture = 'x64' | 'arm64';

/** AUDIT_ARCH_* of linux/audit.h. */
export const AUDIT_ARCHITECTURE: Readonly<Record<Architecture, number>> = {
  x64: 0xc000_003e,
  arm64: 0xc000_00b7,
};

/** The newest call that was looked at; what a later kernel adds is refused until somebody has. */
export const NEWEST_KNOWN_CALL = 467;

/** [x86-64, arm64]; a call that one of them does not have is undefined there. */
const TABLE = {
  ioctl: [16, 29],
  shmget: [29, 194],
  shmat: [30, 196],
  shmctl: [31, 195],
  socket: [41, 198],
  socketpair: [53, 199],
  clone: [56, 220],
  semget: [64, 190],
  semop: [65, 193],
  semctl: [66, 191],
  shmdt: [67, 197],
  msgget: [68, 186],
  msgsnd: [69, 189],
  msgrcv: [70, 188],
  msgctl: [71, 187],
  ptrace: [101, 117],
  syslog: [103, 116],
  uselib: [134, undefined],
  personality: [135, 92],
  vhangup: [153, 58],
  modify_ldt: [154, undefined],
  pivot_root: [155, 41],
  adjtimex: [159, 171],
  chroot: [161, 51],
  acct: [163, 89],
  settimeofday: [164, 170],
  mount: [165, 40],
  umount2: [166, 39],
  swapon: [167, 224],
  swapoff: [168, 225],
  reboot: [169, 142],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  iopl: [172, undefined],
  ioperm: [173, undefined],
  init_module: [175, 105],
  delete_module: [176, 106],
  quotactl: [179, 60],
  nfsservctl: [180, 42],
  lookup_dcookie: [212, 18],
  semtimedop: [220, 192],
  clock_settime: [227, 112],
  mbind: [237, 235],
  set_mempolicy: [238, 237],
  kexec_load: [246, 104],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  migrate_pages: [256, 238],
  unshare: [272, 97],
  move_pages: [279, 239],
  perf_event_open: [298, 241],
  fanotify_init: [300, 262],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  clock_adjtime: [305, 266],
  setns: [308, 268],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  finit_module: [313, 273],
  memfd_create: [319, 279],
  kexec_file_load: [320, 294],
  bpf: [321, 280],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  clone3: [435, 435],
  pidfd_getfd: [438, 438],
  process_madvise: [440, 440],
  mount_setattr: [442, 442],
  quotactl_fd: [443, 443],
  memfd_secret: [447, 447],
  set_mempolicy_home_node: [450, 450],
  open_tree_attr: [467, 467],
} as const;

export type SyscallName = keyof typeof TABLE;

/** Numbers on this architecture; names it does not have are left out. */
export function syscallNumbers(architecture: Architecture, names: readonly SyscallName[]): number[] {
  const column = architecture === 'x64' ? 0 : 1;
  return names.flatMap((name) => TABLE[name][column] ?? []);
}

/** What the init of a command calls by number, because perl has no function for it. */
export const INIT_CALLS: Readonly<
  Record<Architecture, { prlimit: number; prctl: number; close_range: number }>
> = {
  x64: { prlimit: 302, prctl: 157, close_range: 436 },
  arm64: { prlimit: 261, prctl: 167, close_range: 436 },
};
