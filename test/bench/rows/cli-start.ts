/** The whole process of `cognition --version`, against `node -e 0`. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { atMost, type BenchRow, median, timesOf } from '../bench-row.ts';

const cli = fileURLToPath(new URL('../../../cli/bin/cognition.mjs', import.meta.url));
const node =
  (...args: string[]) =>
  () =>
    execFileSync(process.execPath, args, { stdio: 'ignore' });

export async function cliStart(): Promise<BenchRow[]> {
  const bare: number[] = [];
  const version: number[] = [];
  for (let round = 0; round < 30; round += 1) {
    bare.push(...(await timesOf(1, round === 0 ? 2 : 0, node('-e', '0'))));
    version.push(...(await timesOf(1, round === 0 ? 2 : 0, node(cli, '--version'))));
  }
  return [
    atMost('cli-version', '`cognition --version`: of `node -e 0`', median(version) / median(bare), 3, '×'),
  ];
}
