/** What a command's identity must be, compared with what its init found. Anything else and nothing runs. */

/** User and group of commands, in every form of the sandbox. */
export const COMMAND_UID = 65_534;

const ERRNO = { EACCES: '13', EROFS: '30', EAFNOSUPPORT: '97' } as const;

export type IdentityFacts = Readonly<Record<string, string | RegExp>>;

const EVERYWHERE: IdentityFacts = {
  /** All five sets of capabilities. */
  caps: '0000000000000000',
  /** Real and effective user and group, and all other groups. */
  ids: String(COMMAND_UID),
  /** no_new_privs. */
  nnp: '1',
  /** Filter mode. */
  seccomp: '2',
  inet: ERRNO.EAFNOSUPPORT,
  inet6: ERRNO.EAFNOSUPPORT,
  netlink: ERRNO.EAFNOSUPPORT,
  root: ERRNO.EROFS,
};

/** In a sandbox of its own, with namespaces. */
export const NAMESPACED_IDENTITY: IdentityFacts = {
  ...EVERYWHERE,
  /** Network interfaces. */
  links: 'lo',
  /** Processes in sight: the init. */
  pids: '1',
  skills: ERRNO.EROFS,
  inputs: ERRNO.EROFS,
};

/** Beside the daemon, with another user as the border: permissions stand where read-only mounts do. */
export const CONTAINER_IDENTITY: IdentityFacts = {
  ...EVERYWHERE,
  skills: ERRNO.EACCES,
  inputs: ERRNO.EACCES,
  /** Mounts that it may write to. */
  writable: /^(?:(?:\/dev\/mqueue|\/dev\/shm|\/outputs|\/tmp|\/workspace)(?:,|$))+$/,
};

/**
 * @param taskFilters seccomp filters around the daemon: the command has one more.
 * @throws Error naming each fact that is wrong.
 */
export function checkCommandIdentity(
  facts: ReadonlyMap<string, string>,
  expected: IdentityFacts,
  taskFilters: number,
): void {
  const must = { ...expected, filters: String(taskFilters + 1) };
  const holds = (found: string, value: string | RegExp): boolean =>
    typeof value === 'string' ? found === value : value.test(found);
  const wrong = Object.entries(must).filter(([key, value]) => !holds(facts.get(key) ?? 'unknown', value));
  if (wrong.length === 0) return;
  const list = wrong.map(([key, value]) => `${key} is ${facts.get(key) ?? 'unknown'} instead of ${value}`);
  throw new Error(`isolation is incomplete: ${list.join(', ')}`);
}
