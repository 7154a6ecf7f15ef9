/** Filling pools as a function on a schedule does: it may be killed, and another may run at the same time. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { sandboxProfileSchema } from '../../shared/contracts/sandbox-profile.ts';
import { KEYS } from '../../shared/domain/row-keys.ts';
import { TransientError } from '../../shared/domain/transient-error.ts';
import { createMaintenanceLeases } from '../../shared/services/maintenance-leases.ts';
import { createPoolKeeper } from '../../shared/services/pool-keeper.ts';
import { Fate, mortal } from '../support/mortal-ports.ts';
import {
  type Backstage,
  createBackstage,
  DEFAULT_PROFILE,
  type ProcessOptions,
  publishSkill,
  putAgent,
  SCRIPT_RUN,
  startProcess,
} from '../support/run-world.ts';

let backstage: Backstage;
beforeEach(() => {
  backstage = createBackstage();
});

/** One invocation's worth of services. */
function invocation(options: ProcessOptions) {
  const process = startProcess(backstage, options);
  const table = options.ports?.table ?? backstage.table;
  const { clock } = backstage;
  const keeper = createPoolKeeper({
    pool: process.pool,
    leases: createMaintenanceLeases({ table, clock }),
    clock,
  });
  return { ...process, keep: keeper.keep };
}
const pooled = async () => (await backstage.table.query(KEYS.pools('default', 'image-of-default'))).rows;

describe('the function that fills the pools', () => {
  it('fills once when two of it run at the same time', async () => {
    const turns = await Promise.all([invocation({ poolSize: 3 }).keep(), invocation({ poolSize: 3 }).keep()]);

    expect(turns.toSorted()).toEqual([false, true]);
    expect(backstage.sandboxes.tasks.size).toBe(3);
    expect(await pooled()).toHaveLength(3);
  });

  it('has its turn again at once after one that ended', async () => {
    expect(await invocation({ poolSize: 1 }).keep()).toBe(true);

    expect(await invocation({ poolSize: 2 }).keep()).toBe(true);

    expect(await pooled()).toHaveLength(2);
  });

  it('killed at any call leaves no task that is not found, and no turn that never ends', async () => {
    for (const moment of ['before', 'after'] as const) {
      for (let at = 1; ; at += 1) {
        backstage = createBackstage();
        const fate = new Fate('death', at, moment);
        const killed = invocation({ poolSize: 2, ports: mortal(backstage, fate) });
        await killed.keep().catch(() => undefined);
        backstage.clock.advance(600_000);

        const next = invocation({ poolSize: 2 });
        await next.reaper.reap();

        expect(await next.keep()).toBe(true);
        expect(
          backstage.sandboxes
            .alive()
            .map(({ request }) => request.sandbox_id)
            .toSorted(),
        ).toEqual((await pooled()).map(({ sk }) => sk).toSorted());
        expect(await pooled()).toHaveLength(2);
        if (fate.calls < at) break;
      }
    }
  });

  it('starts no sandbox that it could not wait for', async () => {
    const { pool } = startProcess(backstage, { poolSize: 3 });

    await pool.fill(backstage.clock.now());

    expect(backstage.sandboxes.tasks.size).toBe(0);
  });

  it('fills the other pools when the sandboxes of one profile do not start', async () => {
    const profiles = [sandboxProfileSchema.parse({ name: 'broken' }), DEFAULT_PROFILE];
    const launch: typeof backstage.provisioner.launch = async (request) => {
      if (request.profile.name === 'broken') throw new TransientError('no capacity');
      return backstage.provisioner.launch(request);
    };
    const provisioner = { ...backstage.provisioner, launch };
    const process = invocation({ poolSize: 1, profiles, ports: { provisioner } });

    await process.keep();

    expect(await pooled()).toHaveLength(1);
    expect(process.log).toMatchObject([
      { message: 'pool.fill_failed', fields: { profile: 'broken', reason: 'no capacity' } },
    ]);
  });
});

describe('a profile whose tasks start and never answer', () => {
  it('does not keep the pools of others empty for a whole turn', async () => {
    const profiles = [sandboxProfileSchema.parse({ name: 'silent' }), DEFAULT_PROFILE];
    const silent = (sandboxId: string): boolean =>
      backstage.sandboxes
        .alive()
        .some(({ request }) => request.sandbox_id === sandboxId && request.profile.name === 'silent');
    const healthy: typeof backstage.client.healthy = async (sandbox, timeout) =>
      !silent(sandbox.sandbox_id) && backstage.client.healthy(sandbox, timeout);
    const process = invocation({
      poolSize: 20,
      profiles,
      ports: { client: { ...backstage.client, healthy } },
      bounds: { startDeadlineMs: 180_000, startPollMs: 2_000, startsAtOnce: 10 },
    });

    await process.keep();

    expect((await pooled()).length).toBeGreaterThanOrEqual(5);
    const warnings = process.log.filter(({ message }) => message === 'pool.fill_failed');
    expect(warnings).toMatchObject([{ fields: { profile: 'silent' } }]);
  });
});

describe('a step that takes a sandbox out of a pool that another process keeps', () => {
  it('starts nothing in the background', async () => {
    await publishSkill(backstage);
    await putAgent(backstage);
    await invocation({ poolSize: 1 }).keep();

    const { pool, run } = startProcess(backstage, { poolSize: 0 });
    const claimed = vi.spyOn(pool, 'claimed');

    await run(SCRIPT_RUN);

    expect(claimed).not.toHaveBeenCalled();
    expect(backstage.sandboxes.tasks.size).toBe(1);
  });
});
