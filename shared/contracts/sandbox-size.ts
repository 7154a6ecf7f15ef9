/**
 * What a sandbox profile means as a Fargate task: its size, and how its memory is divided. Everything a command can
 * write lies in memory, so what the mounts hold together leaves room for the daemon and for what it runs.
 */
import type { SandboxProfile } from './sandbox-profile.ts';

const MiB = 1024 * 1024;
const GIB_IN_MIB = 1024;

/** Not for files: the daemon and the command's processes. */
const PROCESS_MIB = 256;
/** What a container has at /dev/shm; Fargate has no way to change it. */
const SHARED_MEMORY_MIB = 64;
/** Sockets and the daemon's own small files. */
const RUN_MIB = 4;
/** One package of the largest size, each of its files rounded up to a page. */
const SKILLS_MIB_MIN = 32;
/** As many packages as a manifest may have. */
const SKILLS_MIB_MAX = 1_024;

export interface SandboxMount {
  readonly path: string;
  readonly mebibytes: number;
}

export interface SandboxSize {
  /** 1024 are one vCPU. */
  readonly cpu_units: number;
  readonly memory_mib: number;
  /** In the order in which they are mounted; each `exec`, `nosuid` and `nodev`. */
  readonly mounts: readonly SandboxMount[];
}

/** What Fargate offers, smallest first: each size of memory with the least CPU it comes with, from half a vCPU. */
const FARGATE_SIZES: readonly { readonly memory_mib: number; readonly cpu_units: number }[] = [
  ...offered(512, 1, 4, 1),
  ...offered(1_024, 5, 8, 1),
  ...offered(2_048, 9, 16, 1),
  ...offered(4_096, 17, 30, 1),
  ...offered(8_192, 32, 60, 4),
  ...offered(16_384, 64, 120, 8),
];

function offered(cpu_units: number, fromGib: number, toGib: number, stepGib: number) {
  const steps = (toGib - fromGib) / stepGib + 1;
  return Array.from({ length: steps }, (_, step) => ({
    cpu_units,
    memory_mib: (fromGib + step * stepGib) * GIB_IN_MIB,
  }));
}

/** The task for a profile, or in one line why there is none. */
export function sandboxSize(profile: SandboxProfile): SandboxSize | { readonly problem: string } {
  const wanted = Math.ceil(profile.memory_bytes / MiB);
  const size = FARGATE_SIZES.find(({ memory_mib }) => memory_mib >= wanted);
  const workspace = Math.ceil(profile.workspace_bytes / MiB);
  const temporary = Math.ceil(workspace / 2);
  const fixed = PROCESS_MIB + SHARED_MEMORY_MIB + RUN_MIB + 2 * workspace + temporary;
  const least = fixed + SKILLS_MIB_MIN + 1;
  const largest = FARGATE_SIZES.at(-1)?.memory_mib ?? 0;
  if (size === undefined || least > largest) {
    return { problem: `wants more memory than Fargate has: at most ${largest * MiB} bytes` };
  }
  if (size.memory_mib < least) {
    const fix = `at least ${least * MiB}, or a smaller workspace_bytes`;
    return {
      problem: `has memory_bytes ${profile.memory_bytes}, too little for what is kept in memory: ${fix}`,
    };
  }
  const skills = Math.min(size.memory_mib - fixed - 1, SKILLS_MIB_MAX);
  return {
    ...size,
    mounts: [
      { path: '/run', mebibytes: RUN_MIB },
      { path: '/tmp', mebibytes: temporary },
      { path: '/skills', mebibytes: skills },
      { path: '/workspace', mebibytes: workspace },
      { path: '/outputs', mebibytes: workspace },
    ],
  };
}
