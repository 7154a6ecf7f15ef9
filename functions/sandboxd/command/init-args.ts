import { type Architecture, INIT_CALLS } from '../seccomp/syscall-numbers.ts';
import type { CommandLimits } from './command-driver.ts';

/** RLIMIT_* of the kernel. */
const RESOURCE = { fsize: 1, core: 4, nproc: 6, nofile: 7, as: 9, msgqueue: 12 } as const;

/** `resource=limit` pairs of a command. */
function always(limits: CommandLimits): string[] {
  const pairs: [number, number][] = [
    [RESOURCE.fsize, limits.file_bytes],
    [RESOURCE.core, 0],
    [RESOURCE.nofile, limits.max_open_files],
    [RESOURCE.as, limits.memory_bytes],
    [RESOURCE.msgqueue, 0],
  ];
  return pairs.map(([resource, limit]) => `${resource}=${limit}`);
}

/** Arguments of the program in command-init.ts. */
export function initArgs(options: {
  readonly architecture: Architecture;
  readonly limits: CommandLimits;
  /** Descriptor of the control channel. */
  readonly control: string;
  readonly isolated: boolean;
}): string[] {
  const { limits } = options;
  const calls = INIT_CALLS[options.architecture];
  // Outside a user namespace of its own the whole user would be counted. The init counts as one.
  const processes = options.isolated ? [`${RESOURCE.nproc}=${limits.max_processes + 1}`] : [];
  return [
    options.control,
    options.isolated ? '1' : '0',
    ...[calls.prlimit, calls.prctl, calls.close_range].map(String),
    ...always(limits),
    ...processes,
  ];
}

/** Arguments of the launcher in container-init.ts, apart from its descriptors. The user there is the command's alone. */
export function launcherArgs(architecture: Architecture, limits: CommandLimits): string[] {
  const calls = INIT_CALLS[architecture];
  return [
    ...[calls.prlimit, calls.close_range].map(String),
    ...always(limits),
    `${RESOURCE.nproc}=${limits.max_processes}`,
  ];
}
