/**
 * What a container of the sandbox is given: the task definition gives it, sandboxd refuses to serve without it, tests
 * start containers with it.
 */
import type { SandboxProfile } from './sandbox-profile.ts';

const MiB = 1024 * 1024;

/** What the daemon needs to own its folders, and to make, limit and end the command: the command has none of them. */
export const SANDBOX_CAPABILITIES = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'KILL',
  'SETGID',
  'SETUID',
  'SETPCAP',
] as const;

/** The rest of what containers have by default. To be dropped by name, because Fargate lets nothing be added again. */
export const DROPPED_CAPABILITIES = [
  'AUDIT_WRITE',
  'FSETID',
  'MKNOD',
  'NET_BIND_SERVICE',
  'NET_RAW',
  'SETFCAP',
  'SYS_CHROOT',
] as const;

/** All mounts of a container that can be written; everything else of it is read-only. */
export const SANDBOX_MOUNT_OPTIONS = ['exec', 'nosuid', 'nodev'] as const;

/** Left to Node, to the command's own memory and to what tmpfs does not count. */
export const UNMOUNTED_BYTES = 256 * MiB;
/** Below it not even the largest package would fit beside what the file system needs for itself. */
export const LEAST_SKILLS_BYTES = 24 * MiB;

export interface SandboxMount {
  readonly path: '/tmp' | '/skills' | '/workspace' | '/outputs' | '/run';
  /** A whole number of MiB, as task definitions count. */
  readonly bytes: number;
}

/**
 * tmpfs mounts and their sizes. Together they leave UNMOUNTED_BYTES of the profile's memory.
 * @throws Error when a profile's workspace leaves no room for packages; its message names both settings.
 */
export function sandboxMounts(profile: SandboxProfile): readonly SandboxMount[] {
  const wholeMiB = (bytes: number): number => Math.max(1, Math.floor(bytes / MiB)) * MiB;
  const workspace = wholeMiB(profile.workspace_bytes);
  const tmp = wholeMiB(profile.workspace_bytes / 2);
  const run = MiB;
  const left = profile.memory_bytes - UNMOUNTED_BYTES - 2 * workspace - tmp - run;
  if (left < LEAST_SKILLS_BYTES) {
    const least = UNMOUNTED_BYTES + 2 * workspace + tmp + run + LEAST_SKILLS_BYTES;
    throw new Error(
      `sandbox profile ${profile.name}: memory_bytes is ${profile.memory_bytes}, which is too little for a workspace_bytes of ` +
        `${profile.workspace_bytes}: make it ${least} or more, or the workspace smaller`,
    );
  }
  return [
    { path: '/tmp', bytes: tmp },
    { path: '/skills', bytes: wholeMiB(Math.min(left, profile.memory_bytes / 2)) },
    { path: '/workspace', bytes: workspace },
    { path: '/outputs', bytes: workspace },
    { path: '/run', bytes: run },
  ];
}
