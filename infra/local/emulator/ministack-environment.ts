/** The virtual environment of the emulator, made once for each list of requirements. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const REQUIREMENTS = join(ROOT, 'test/emulator/requirements.txt');
const CACHE = join(ROOT, 'node_modules/.cache/emulator');
/** The system's comes second: where both can be used, the user has chosen the first. */
const PYTHONS = ['python3', '/usr/bin/python3'] as const;
const CAN_MAKE_ONE = 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))';

/** @returns the Python of the environment. */
export function openMinistackEnvironment(): string {
  const requirements = readFileSync(REQUIREMENTS);
  const folder = join(CACHE, createHash('sha256').update(requirements).digest('hex').slice(0, 16));
  const python = join(folder, 'bin', 'python3');
  if (existsSync(join(folder, '.complete'))) return python;
  const base = PYTHONS.find((candidate) => succeeds(candidate, ['-c', CAN_MAKE_ONE]));
  if (base === undefined) {
    throw new Error(
      'the emulator needs Python 3.11 or later with its venv module: on Debian, `apt-get install python3-venv`; ' +
        'or set AWS_ENDPOINT_URL to an emulator that runs',
    );
  }
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(CACHE, { recursive: true });
  run(base, ['-m', 'venv', folder]);
  run(python, ['-m', 'pip', 'install', '--quiet', '--require-hashes', '--requirement', REQUIREMENTS]);
  markComplete(folder);
  return python;
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
