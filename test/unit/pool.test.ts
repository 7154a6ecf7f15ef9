import { beforeEach, describe, expect, it } from 'vitest';
import { createRunSchema } from '../../shared/contracts/run.ts';
import { sandboxProfileSchema } from '../../shared/contracts/sandbox-profile.ts';
import { KEYS } from '../../shared/domain/row-keys.ts';
import { Fate, mortal } from '../support/mortal-ports.ts';
import { allEvents, expectRunClosed } from '../support/run-invariants.ts';
import {
  type Backstage,
  createBackstage,
  DEFAULT_PROFILE,
  FINGERPRINT,
  publishSkill,
  putAgent,
  SCRIPT_RUN,
  startProcess,
} from '../support/run-world.ts';

let backstage: Backstage;
beforeEach(async () => {
  backstage = createBackstage();
  await publishSkill(backstage);
  await putAgent(backstage);
});

const pooled = async (profile = 'default') =>
  (await backstage.table.query(KEYS.pools(profile, `image-of-${profile}`))).rows;
const keyOf = (sandboxId: string) => backstage.table.get(KEYS.sandboxKey(sandboxId));

describe('a pool', () => {
  it('keeps the number of running, answering sandboxes of each profile, which belong to nobody', async () => {
    const profiles = [DEFAULT_PROFILE, sandboxProfileSchema.parse({ name: 'big' })];
    const process = startProcess(backstage, { poolSize: 2, profiles });

    await process.pool.fill();
    await process.pool.fill();

    expect([(await pooled()).length, (await pooled('big')).length]).toEqual([2, 2]);
    expect(backstage.sandboxes.alive()).toHaveLength(4);
    for (const { request } of backstage.sandboxes.alive()) expect(request.run).toBeUndefined();
    for (const { data } of await pooled())
      expect(data).toMatchObject({ host: expect.any(String), port: 8477 });
  });

  it('gives its sandbox to one run, which uses it up, and fills again', async () => {
    const process = startProcess(backstage, { poolSize: 1 });
    await process.pool.fill();
    const [first] = backstage.sandboxes.alive();

    const run = await process.run(SCRIPT_RUN);
    await process.pool.fill();

    const closed = await expectRunClosed(backstage, process, run.run_id);
    expect(closed.status).toBe('succeeded');
    expect(first).toMatchObject({ bound: run.run_id, status: 'stopped' });
    const requested = (await allEvents(process, run.run_id)).find(({ type }) => type === 'sandbox.requested');
    expect(requested?.data.pooled).toBe(true);
    expect(await pooled()).toHaveLength(1);
    expect(backstage.sandboxes.alive()[0]?.task_id).not.toBe(first?.task_id);
  });

  it('never gives one sandbox to two of many runs that start at once', async () => {
    const process = startProcess(backstage, { poolSize: 4, runsAtOnce: 30 });
    await process.pool.fill();

    const made = await Promise.all(
      Array.from({ length: 20 }, () => process.runs.create(FINGERPRINT, createRunSchema.parse(SCRIPT_RUN))),
    );
    await process.orchestrator.idle();

    const statuses = await Promise.all(made.map(({ run_id }) => process.runs.get(FINGERPRINT, run_id)));
    expect(statuses.map(({ status }) => status)).toEqual(made.map(() => 'succeeded'));
    const bound = [...backstage.sandboxes.tasks.values()].flatMap((task) => task.bound ?? []);
    expect(new Set(bound).size).toBe(20);
    expect(bound).toHaveLength(20);
    await process.pool.drain();
  });

  it('is passed over for a new sandbox when its sandboxes are dead, and forgets them', async () => {
    const process = startProcess(backstage, { poolSize: 1 });
    await process.pool.fill();
    const [{ sk: deadId } = { sk: '' }] = await pooled();
    for (const task of backstage.sandboxes.alive()) task.status = 'stopped';

    const run = await process.run(SCRIPT_RUN);
    await process.pool.fill();

    expect(run.status).toBe('succeeded');
    const requested = (await allEvents(process, run.run_id)).find(({ type }) => type === 'sandbox.requested');
    expect(requested?.data.pooled).toBe(false);
    expect((await pooled()).map(({ sk }) => sk)).not.toContain(deadId);
    expect(await keyOf(deadId)).toBeUndefined();
    expect(await pooled()).toHaveLength(1);
  });

  it('is passed over when the address of its dead sandbox is another’s by now', async () => {
    const process = startProcess(backstage, { poolSize: 1 });
    await process.pool.fill();
    const [dead] = backstage.sandboxes.alive();
    if (dead === undefined) throw new Error('the pool is empty');
    const request = { ...dead.request, sandbox_id: 'ANOTHER' };
    backstage.sandboxes.tasks.set('task-another', { ...dead, task_id: 'task-another', request });
    dead.status = 'stopped';

    const run = await process.run(SCRIPT_RUN);

    expect(run).toMatchObject({ status: 'succeeded', failure: null });
  });

  it('drops the rows of a former process, whose tasks nobody knows any more', async () => {
    const before = startProcess(backstage, { poolSize: 2 });
    await before.pool.fill();
    const old = (await pooled()).map(({ sk }) => sk);
    backstage.sandboxes.loseAll();

    await startProcess(backstage, { poolSize: 2 }).pool.fill();

    const now = (await pooled()).map(({ sk }) => sk);
    expect(now).toHaveLength(2);
    for (const id of old) {
      expect(now).not.toContain(id);
      expect(await keyOf(id)).toBeUndefined();
    }
  });

  it('does not give a sandbox of one profile or image to a run of another', async () => {
    const profiles = [DEFAULT_PROFILE, sandboxProfileSchema.parse({ name: 'big' })];
    await putAgent(backstage, { sandbox_profile: 'big' });
    const filling = startProcess(backstage, { poolSize: 1 });
    await filling.pool.fill();

    const run = await startProcess(backstage, { profiles }).run(SCRIPT_RUN);

    expect(run.status).toBe('succeeded');
    expect(await pooled()).toHaveLength(1);
    expect(backstage.sandboxes.alive().map((task) => task.bound)).toEqual([undefined]);
  });

  it('is empty after it is drained, and stays so', async () => {
    const process = startProcess(backstage, { poolSize: 2 });
    await process.pool.fill();

    await process.pool.drain();
    await process.pool.fill();

    expect(await pooled()).toEqual([]);
    expect(backstage.sandboxes.alive()).toEqual([]);
    for (const task of backstage.sandboxes.tasks.values()) {
      expect(await keyOf(task.request.sandbox_id)).toBeUndefined();
    }
  });

  it('replaces sandboxes that have waited for half a day', async () => {
    const process = startProcess(backstage, { poolSize: 1 });
    await process.pool.fill();
    const [before] = await pooled();
    backstage.clock.advance(13 * 3_600_000);

    await process.pool.fill();

    const after = await pooled();
    expect(after).toHaveLength(1);
    expect(after[0]?.sk).not.toBe(before?.sk);
    expect(backstage.sandboxes.alive()).toHaveLength(1);
  });

  it('leaves no task after it died at any call and the reaper has come by', async () => {
    for (const moment of ['before', 'after'] as const) {
      for (let at = 1; ; at += 1) {
        backstage = createBackstage();
        const fate = new Fate('death', at, moment);
        await startProcess(backstage, { poolSize: 1, ports: mortal(backstage, fate) }).pool.fill();
        const again = startProcess(backstage, { poolSize: 1 });
        await again.pool.fill();
        backstage.clock.advance(600_000);

        await again.reaper.reap();

        expect(backstage.sandboxes.alive().map(({ request }) => request.sandbox_id)).toEqual(
          (await pooled()).map(({ sk }) => sk),
        );
        expect(await pooled()).toHaveLength(1);
        if (fate.calls < at) break;
      }
    }
  });
});
