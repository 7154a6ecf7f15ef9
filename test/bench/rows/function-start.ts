/**
 * Each Lambda function: the bytes of its bundle, and the time a new process takes to import it with the environment it
 * is deployed with. Lambda has no compile cache, and neither has this.
 */
import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { FUNCTIONS, type FunctionSpec } from '../../../infra/functions/function-table.ts';
import { environmentGroups } from '../../../shared/contracts/function-environment.ts';
import { environmentOf, LAMBDA_ENVIRONMENT, makeBundles } from '../../support/function-bundles.ts';
import { atMost, type BenchRow, median } from '../bench-row.ts';

const STARTS = 11;
const KB = 1_000;
const PROGRAM = `
const began = performance.now();
await import(process.env.BUNDLE);
process.stdout.write(String(performance.now() - began));
`;

export async function functionStart(): Promise<BenchRow[]> {
  const bundles = await makeBundles();
  const modules = new Map([...bundles.folders].map(([name, folder]) => [name, join(folder, 'index.mjs')]));
  // In turns, so that what else the machine does meets all of them alike.
  const starts = new Map<string, number[]>(FUNCTIONS.map(({ name }) => [name, []]));
  for (let turn = 0; turn < STARTS; turn += 1) {
    for (const { name } of FUNCTIONS) starts.get(name)?.push(await startOf(name, modules.get(name) ?? ''));
  }
  const rows = FUNCTIONS.flatMap((spec) => {
    const size = statSync(modules.get(spec.name) ?? '').size / KB;
    const init = median(starts.get(spec.name) ?? []);
    return [
      atMost(`size-${spec.name}`, `bundle of ${spec.name}`, size, hasS3(spec) ? 800 : 500, 'KB'),
      atMost(`init-${spec.name}`, `init of ${spec.name}`, init, 200, 'ms'),
    ];
  });
  await bundles.close();
  return rows;
}

const hasS3 = (spec: FunctionSpec): boolean => {
  const groups = environmentGroups(spec);
  return groups.includes('packages') || groups.includes('artifacts');
};

function startOf(name: string, module: string): Promise<number> {
  const env = { ...environmentOf(name), ...LAMBDA_ENVIRONMENT, BUNDLE: pathToFileURL(module).href };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, ['--input-type=module', '-e', PROGRAM], { env }, (error, stdout) => {
      if (error === null) resolve(Number(stdout));
      else reject(error);
    });
  });
}
