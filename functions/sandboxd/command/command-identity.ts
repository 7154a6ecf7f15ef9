/** What a command's sandbox must be, compared with what its init found. Anything else and nothing runs. */

const EAFNOSUPPORT = '97';
const EROFS = '30';

const MUST: Readonly<Record<string, string>> = {
  /** No capability. */
  caps: '0000000000000000',
  /** no_new_privs. */
  nnp: '1',
  /** Filter mode. */
  seccomp: '2',
  /** Network interfaces. */
  links: 'lo',
  /** Processes in sight: the init. */
  pids: '1',
  inet: EAFNOSUPPORT,
  inet6: EAFNOSUPPORT,
  netlink: EAFNOSUPPORT,
  skills: EROFS,
  inputs: EROFS,
  root: EROFS,
};

/**
 * @param taskFilters seccomp filters around the daemon: the command has one more.
 * @throws Error naming each fact that is wrong.
 */
export function checkCommandIdentity(facts: ReadonlyMap<string, string>, taskFilters: number): void {
  const must = { ...MUST, filters: String(taskFilters + 1) };
  const wrong = Object.entries(must).filter(([key, value]) => facts.get(key) !== value);
  if (wrong.length === 0) return;
  const list = wrong.map(([key, value]) => `${key} is ${facts.get(key) ?? 'unknown'} instead of ${value}`);
  throw new Error(`isolation is incomplete: ${list.join(', ')}`);
}
