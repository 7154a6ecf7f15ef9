/** Virtual environments for tools in Python, made once for each list of requirements. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface PythonEnvironmentOptions {
  /** From the root of the project; every package with its hashes. */
  readonly requirements: string;
  /** Below node_modules/.cache. */
  readonly name: string;
  /** Continues "needs Python 3.11 or later with its venv module" where there is none. */
  readonly otherwise?: string;
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The system's comes second: where both can be used, the user has chosen the first. */
const PYTHONS = ['python3', '/usr/bin/python3'] as const;
const CAN_MAKE_ONE = 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))';

/**
 * @returns the folder with the environment's programs, `python3` among them.
 * @throws Error when this machine has no Python that can make one, or a package cannot be installed.
 */
export function openPythonEnvironment({ requirements, name, otherwise }: PythonEnvironmentOptions): string {
  const list = join(ROOT, requirements);
  const cache = join(ROOT, 'node_modules/.cache', name);
  const folder = join(cache, createHash('sha256').update(readFileSync(list)).digest('hex').slice(0, 16));
  const programs = join(folder, 'bin');
  if (existsSync(join(folder, '.complete'))) return programs;
  const base = PYTHONS.find((candidate) => succeeds(candidate, ['-c', CAN_MAKE_ONE]));
  if (base === undefined) {
    const needed = `${name} needs Python 3.11 or later with its venv module: on Debian, \`apt-get install python3-venv\``;
    throw new Error(otherwise === undefined ? needed : `${needed}; ${otherwise}`);
  }
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(cache, { recursive: true });
  run(base, ['-m', 'venv', folder]);
  run(join(programs, 'python3'), [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--require-hashes',
    '--requirement',
    list,
  ]);
  markComplete(folder);
  return programs;
}

/** An installation that was interrupted has no mark, and is made anew. */
function markComplete(folder: string): void {
  mkdirSync(join(folder, '.completing'));
  renameSync(join(folder, '.completing'), join(folder, '.complete'));
}

const succeeds = (program: string, args: readonly string[]): boolean =>
  spawnSync(program, args, { stdio: 'ignore' }).status === 0;

function run(program: string, args: readonly string[]): void {
  const { status, error } = spawnSync(program, args, { stdio: ['ignore', 2, 2] });
  if (error !== undefined || status !== 0) {
    throw new Error(`\`${program} ${args.join(' ')}\` failed; see above`, { cause: error });
  }
}
