/** What a daemon can find out about the task it is in. */
import { accessSync, constants, readdirSync, readFileSync } from 'node:fs';

/** @returns fields of the process's status by name; `unknown` for one that the kernel does not have. */
export function ownStatus(): (name: string) => string {
  const status = readFileSync('/proc/self/status', 'latin1');
  return (name) => new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(status)?.[1] ?? 'unknown';
}

export const processesInSight = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/** Asked, not tried: where there is no isolation this must leave no trace. */
export function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

export interface Findings {
  must(what: string, holds: boolean): void;
  /** @throws Error naming everything that does not hold. */
  conclude(): void;
}

export function createFindings(): Findings {
  const wrong: string[] = [];
  return {
    must: (what, holds) => {
      if (!holds) wrong.push(what);
    },
    conclude: () => {
      if (wrong.length > 0) throw new Error(`the isolation of this task is incomplete: ${wrong.join('; ')}`);
    },
  };
}
