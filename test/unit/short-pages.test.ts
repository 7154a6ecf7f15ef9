/** DynamoDB ends a page at one megabyte, however many rows were asked for. */
import { expect, it } from 'vitest';
import { KEYS } from '../../shared/domain/row-keys.ts';
import type { TableStore } from '../../shared/ports/table-store.ts';
import {
  createBackstage,
  FINGERPRINT,
  publishSkill,
  putAgent,
  SCRIPT_RUN,
  startProcess,
} from '../support/run-world.ts';

const shortPages = (table: TableStore): TableStore => ({
  get: (key) => table.get(key),
  transact: (writes) => table.transact(writes),
  query: (pk, options) => table.query(pk, { ...options, limit: Math.min(options?.limit ?? 100, 2) }),
});

async function world(poolSize = 0) {
  const backstage = createBackstage();
  await publishSkill(backstage);
  await putAgent(backstage);
  const process = startProcess(backstage, { ports: { table: shortPages(backstage.table) }, poolSize });
  return { backstage, process };
}

it('a run that ends takes all of its stdin with it, when a page of the table holds only a part', async () => {
  const { backstage, process } = await world();

  const run = await process.run({ ...SCRIPT_RUN, stdin: 'x'.repeat(1_000_000) });

  expect(run.status).toBe('succeeded');
  const left = await backstage.table.query(KEYS.blob(`run-stdin#${FINGERPRINT}#${run.run_id}`));
  expect(left.rows).toEqual([]);
});

it('a pool of more sandboxes than a page holds is full at its size', async () => {
  const { backstage, process } = await world(5);

  await process.pool.fill();
  await process.pool.fill();

  expect(backstage.sandboxes.alive()).toHaveLength(5);
  await process.pool.drain();
  expect(backstage.sandboxes.alive()).toEqual([]);
});

it('a run keeps outputs, events and streams of many pages', async () => {
  const { backstage, process } = await world();
  backstage.sandboxes.script = {
    stdout: 'line\n'.repeat(40_000),
    outputs: Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`out-${index}.txt`, `${index}`])),
  };

  const run = await process.run(SCRIPT_RUN);

  expect(run.stdout).toBe('line\n'.repeat(40_000));
  expect(await process.runs.listArtifacts(FINGERPRINT, run.run_id)).toHaveLength(9);
});
