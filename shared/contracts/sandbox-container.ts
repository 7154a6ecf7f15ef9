/**
 * What a container of the sandbox is given besides its size (sandbox-size.ts): the task definition gives it, sandboxd
 * refuses to serve with anything else, tests start containers with it.
 */

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

/** Of all the mounts that a container can write to; everything else of it is read-only. */
export const SANDBOX_MOUNT_OPTIONS = ['exec', 'nosuid', 'nodev'] as const;
