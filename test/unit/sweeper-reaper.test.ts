import { beforeEach, describe, expect, it } from 'vitest';
import { createRunSchema } from '../../shared/contracts/run.ts';
import { KEYS } from '../../shared/domain/row-keys.ts';
import type { TableStore, Write } from '../../shared/ports/table-store.ts';
import { expectRunClosed } from '../support/run-invariants.ts';
import {
  type Backstage,
  createBackstage,
  DEFAULT_PROFILE,
  FINGERPRINT,
  publishSkill,
  putAgent,
  refOf,
  SCRIPT_RUN,
  startProcess,
  type TestProcess,
} from '../support/run-world.ts';

const REQUEST = createRunSchema.parse(SCRIPT_RUN);
const HOUR_MS = 3_600_000;

let backstage: Backstage;
let process: TestProcess;
beforeEach(async () => {
  backstage = createBackstage();
  await publishSkill(backstage);
  await putAgent(backstage);
  process = startProcess(backstage, { orchestrator: 'none' });
});

/** A run with a sandbox that is up, and no machine that looks after it. */
async function launchedRun() {
  const run = refOf(await process.runs.create(FINGERPRINT, REQUEST));
  await process.steps.pinManifest(run);
  await process.steps.launchSandbox(run);
  await process.steps.awaitSandbox(run);
  return run;
}

describe('the sweeper', () => {
  it('leaves a run alone that is young, and one that is under way', async () => {
    await process.runs.create(FINGERPRINT, REQUEST);
    backstage.clock.advance(-1_000);
    await launchedRun();

    expect(await process.sweeper.sweep()).toEqual({ started: 0, ended: 0, torn_down: 0 });
  });

  it('ends a run that is past every deadline as interrupted, and its sandbox goes', async () => {
    const run = await launchedRun();
    backstage.clock.advance(2 * HOUR_MS);

    const swept = await process.sweeper.sweep();

    expect(swept).toEqual({ started: 0, ended: 1, torn_down: 0 });
    const closed = await expectRunClosed(backstage, process, run.run_id);
    expect(closed.failure).toMatchObject({ code: 'run_interrupted', stage: 'materialize' });
  });

  it('tears down after a machine that ended between the last status and Teardown', async () => {
    const run = await launchedRun();
    await process.steps.recordFailure(run, { code: 'run_interrupted', message: 'lost' });
    expect(await process.sweeper.sweep()).toEqual({ started: 0, ended: 0, torn_down: 0 });
    backstage.clock.advance(61_000);

    const swept = await process.sweeper.sweep();

    expect(swept).toEqual({ started: 0, ended: 0, torn_down: 1 });
    await expectRunClosed(backstage, process, run.run_id);
  });

  it('goes on with the others when one run cannot be helped', async () => {
    const broken = refOf(await process.runs.create(FINGERPRINT, REQUEST));
    const fine = refOf(await process.runs.create(FINGERPRINT, REQUEST));
    await backstage.table.transact([
      { kind: 'put', key: KEYS.run(FINGERPRINT, broken.run_id), data: { nonsense: true } },
    ]);
    backstage.clock.advance(2 * HOUR_MS);

    const swept = await process.sweeper.sweep();

    expect(swept.ended).toBe(1);
    expect((await process.runs.get(FINGERPRINT, fine.run_id)).status).toBe('failed');
  });
});

describe('what may delete keys of sandboxes and do nothing else with them', () => {
  it('deletes each by itself, in teardown and in the reaper', async () => {
    const run = await launchedRun();
    const orphan = backstage.sandboxes.alive().map(({ request }) => request.sandbox_id);
    const transactions: (readonly Write[])[] = [];
    const table: TableStore = {
      get: (key) => backstage.table.get(key),
      query: (pk, options) => backstage.table.query(pk, options),
      transact: async (writes) => {
        transactions.push(writes);
        return await backstage.table.transact(writes);
      },
    };
    const watched = startProcess(backstage, { orchestrator: 'none', ports: { table } });

    await watched.steps.recordFailure(run, { code: 'run_interrupted', message: 'lost' });
    await watched.steps.teardown(run);
    await backstage.provisioner.launch({
      sandbox_id: 'ORPHAN',
      profile: DEFAULT_PROFILE,
      public_key: 'key',
    });
    backstage.clock.advance(HOUR_MS);
    await watched.reaper.reap();

    const keys = transactions.filter((writes) => writes.some(({ key }) => key.pk.startsWith('sandbox-key#')));
    expect(keys).toEqual([...orphan, 'ORPHAN'].map((id) => [{ kind: 'delete', key: KEYS.sandboxKey(id) }]));
  });
});

describe('a late step cannot revive a run that was ended', () => {
  it('whichever step comes late', async () => {
    const run = await launchedRun();
    await process.steps.recordFailure(run, { code: 'run_interrupted', message: 'lost' });
    await process.steps.teardown(run);
    const ended = await process.runs.get(FINGERPRINT, run.run_id);
    const { steps } = process;

    for (const step of [
      steps.pinManifest,
      steps.launchSandbox,
      steps.awaitSandbox,
      steps.materialize,
      steps.execute,
      steps.collectArtifacts,
      steps.finish,
      steps.teardown,
    ]) {
      await step(run);
    }
    await steps.recordFailure(run, { code: 'script_failed', message: 'late' });

    expect(await process.runs.get(FINGERPRINT, run.run_id)).toEqual(ended);
    expect(backstage.sandboxes.execs).toBe(0);
    expect(backstage.sandboxes.alive()).toEqual([]);
  });
});

describe('the reaper', () => {
  it('stops a task whose run has ended or that no one knows, and deletes its key', async () => {
    const run = await launchedRun();
    await process.steps.recordFailure(run, { code: 'run_interrupted', message: 'lost' });
    await backstage.table.transact([{ kind: 'delete', key: KEYS.activeRun(run.run_id) }]);
    const [task] = backstage.sandboxes.alive();
    backstage.clock.advance(HOUR_MS);

    const stopped = await process.reaper.reap();

    expect(stopped).toEqual([task?.task_id]);
    expect(backstage.sandboxes.alive()).toEqual([]);
    expect(await backstage.table.get(KEYS.sandboxKey(task?.request.sandbox_id ?? ''))).toBeUndefined();
  });

  it('leaves a task alone that a run needs, however long it takes', async () => {
    await launchedRun();
    backstage.clock.advance(HOUR_MS / 2);

    expect(await process.reaper.reap()).toEqual([]);
  });

  it('leaves a task alone that waits in a pool, and one that is just being launched', async () => {
    const filling = startProcess(backstage, { poolSize: 1 });
    await filling.pool.fill();
    backstage.clock.advance(HOUR_MS);
    await backstage.provisioner.launch({
      sandbox_id: '01JDZZZZZZZZZZZZZZZZZZZZZZ',
      profile: DEFAULT_PROFILE,
      public_key: 'key',
    });

    expect(await process.reaper.reap()).toEqual([]);
    expect(backstage.sandboxes.alive()).toHaveLength(2);
  });
});
