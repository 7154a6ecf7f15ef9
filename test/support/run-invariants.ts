import { expect } from 'vitest';
import type { RunEvent } from '../../shared/contracts/event.ts';
import type { Run } from '../../shared/contracts/run.ts';
import { KEYS, OBJECT_KEYS } from '../../shared/domain/row-keys.ts';
import { isFinalStatus } from '../../shared/domain/run-transitions.ts';
import { sha256Hex } from '../../shared/domain/sha256.ts';
import { type Backstage, FINGERPRINT, type TestProcess } from './run-world.ts';

/** What holds for every run once its machine is done, whatever happened on the way. */
export async function expectRunClosed(
  backstage: Backstage,
  process: TestProcess,
  runId: string,
): Promise<Run> {
  const { table, sandboxes, objects } = backstage;
  const run = await process.runs.get(FINGERPRINT, runId);
  expect(isFinalStatus(run.status), run.status).toBe(true);
  await expectEvents(process, run);
  expect((await table.query(KEYS.slots(FINGERPRINT))).rows).toEqual([]);
  expect(await table.get(KEYS.activeRun(runId))).toBeUndefined();
  for (const owner of ['request', 'stdin']) {
    expect((await table.query(KEYS.blob(`run-${owner}#${FINGERPRINT}#${runId}`))).rows).toEqual([]);
  }
  for (const task of sandboxes.tasks.values()) {
    const pooled = task.bound === undefined && task.request.run === undefined;
    if (!pooled) expect(await table.get(KEYS.sandboxKey(task.request.sandbox_id))).toBeUndefined();
  }
  expect(
    sandboxes.alive().filter((task) => task.bound !== undefined || task.request.run !== undefined),
  ).toEqual([]);
  expect(sandboxes.execs).toBeLessThanOrEqual(1);
  for (const artifact of await process.runs.listArtifacts(FINGERPRINT, runId)) {
    if (artifact.artifact_id === undefined) continue;
    const bytes = await objects.get(OBJECT_KEYS.runArtifact(FINGERPRINT, runId, artifact.artifact_id));
    expect(bytes && sha256Hex(bytes)).toBe(artifact.sha256);
  }
  return run;
}

export async function allEvents(process: TestProcess, runId: string): Promise<RunEvent[]> {
  const items: RunEvent[] = [];
  for (;;) {
    const after = items.at(-1)?.sequence ?? 0;
    const page = await process.runs.events(FINGERPRINT, runId, { after, limit: 200, wait_seconds: 0 });
    if (page.items.length === 0) return items;
    items.push(...page.items);
  }
}

async function expectEvents(process: TestProcess, run: Run): Promise<void> {
  const items = await allEvents(process, run.run_id);
  expect(items.map(({ sequence }) => sequence)).toEqual(items.map((_, index) => index + 1));
  const once = items
    .map(({ type }) => type)
    .filter(
      (type) => type !== 'command.output' && !type.startsWith('artifact.') && type !== 'package.materialized',
    );
  expect(new Set(once).size, once.join()).toBe(once.length);
  const ends = items.filter(({ type }) => type === `run.${run.status}`);
  expect(ends).toHaveLength(1);
  const text = (stream: string) =>
    items
      .flatMap(({ type, data }) => (type === 'command.output' && data.stream === stream ? [data.text] : []))
      .join('');
  expect(text('stdout')).toBe(run.stdout);
  expect(text('stderr')).toBe(run.stderr);
}
