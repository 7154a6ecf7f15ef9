/** Processes as /proc has them, so that tests see what a server leaves behind. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export interface SeenProcess {
  readonly pid: number;
  readonly parent: number;
  /** In clock ticks since boot: with the pid it names one process for good. */
  readonly started: string;
  readonly command: string;
}

/** Undefined when it is gone, and for one that is dead and only waits to be reaped. */
function look(pid: number): SeenProcess | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in parentheses, may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return { pid, parent: Number(fields[1]), started: fields[19] ?? '', command };
  } catch {
    return undefined;
  }
}

/** Everything below a process, in one look. */
export function descendantsOf(pid: number): SeenProcess[] {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (look(Number(name)) ?? []) : []));
  const found: SeenProcess[] = [];
  for (let parents = new Set([pid]); parents.size > 0; ) {
    const children = all.filter(({ parent }) => parents.has(parent));
    found.push(...children);
    parents = new Set(children.map((child) => child.pid));
  }
  return found;
}

/** Sandboxes of a server: of each the one process that all of it is below. */
export const sandboxesOf = (pid: number): SeenProcess[] =>
  descendantsOf(pid).filter(
    ({ parent, command }) => parent === pid && /\bbwrap\b/.test(command.split(' ')[0] ?? ''),
  );

const isAlive = ({ pid, started }: SeenProcess): boolean => look(pid)?.started === started;

/** Those that still live after the time. */
export async function survivorsOf(
  seen: readonly SeenProcess[],
  milliseconds = 10_000,
): Promise<SeenProcess[]> {
  for (const deadline = Date.now() + milliseconds; Date.now() < deadline; await sleep(20)) {
    if (!seen.some(isAlive)) return [];
  }
  return seen.filter(isAlive);
}

/** SIGKILL, with a look at all that the process had below it at that moment. */
export async function killAndLook(pid: number, ended: () => Promise<void>): Promise<SeenProcess[]> {
  // Stopped it starts nothing between the look and the kill.
  process.kill(pid, 'SIGSTOP');
  const below = descendantsOf(pid);
  process.kill(pid, 'SIGKILL');
  await ended();
  return below;
}
