/** `npm run bench`: every figure that the project holds itself to. `--json` for machines, `--only ID` for one row. */
import { parseArgs } from 'node:util';
import type { BenchRow } from './bench-row.ts';
import { cliStart } from './rows/cli-start.ts';
import { emulatedRuns } from './rows/emulated-runs.ts';
import { functionStart } from './rows/function-start.ts';
import { manyRuns } from './rows/many-runs.ts';
import { materialize } from './rows/materialize.ts';
import { packageRules } from './rows/package-rules.ts';
import { skillReads } from './rows/skill-reads.ts';
import { synthesis } from './rows/synthesis.ts';
import { wholeRun } from './rows/whole-run.ts';

const GROUPS = {
  packageRules,
  cliStart,
  functionStart,
  synthesis,
  materialize,
  wholeRun,
  skillReads,
  manyRuns,
  emulatedRuns,
};

const { values } = parseArgs({ options: { json: { type: 'boolean' }, only: { type: 'string' } } });

const rows: BenchRow[] = [];
for (const [name, group] of Object.entries(GROUPS)) {
  if (values.only !== undefined && values.only !== name) continue;
  process.stderr.write(`${name}…\n`);
  rows.push(...(await group()));
}

if (values.json === true) {
  process.stdout.write(`${JSON.stringify({ rows })}\n`);
} else {
  console.table(
    Object.fromEntries(
      rows.map(({ id, what, value, unit, target, met }) => [
        id,
        { what, value, unit, target, met: met ? 'yes' : 'NO' },
      ]),
    ),
  );
}
process.exit(0);
