/** The times that the parts of a deployment set one another: one that does not fit shows up as a time-out in production. */
import { beforeEach, describe, expect, it } from 'vitest';
import { DEPLOYED_BOUNDS } from '../../functions/runtime/aws/wiring/deployed-bounds.ts';
import { functionSpec } from '../../infra/functions/function-table.ts';
import { LIMITS } from '../../shared/contracts/limits.ts';
import { createRunSchema } from '../../shared/contracts/run.ts';
import { createPoolKeeper } from '../../shared/services/pool-keeper.ts';
import {
  type Backstage,
  createBackstage,
  FINGERPRINT,
  publishSkill,
  putAgent,
  refOf,
  startProcess,
} from '../support/run-world.ts';

const SECOND = 1_000;
const limitOf = (name: string): number => functionSpec(name).timeout_seconds * SECOND;
/** What the client of sandboxes waits for a small call, and what is left for the table. */
const CALL_MS = 10_000;
const TABLE_MS = 4_000;

describe('the bounds of steps', () => {
  it('leave a call of Execute the time for one more question that nobody answers', () => {
    expect(DEPLOYED_BOUNDS.executeBudgetMs + CALL_MS + TABLE_MS).toBeLessThanOrEqual(limitOf('execute'));
  });

  it('leave a call of AwaitSandbox the time for one more look', () => {
    const look = DEPLOYED_BOUNDS.awaitPollMs + TABLE_MS;

    expect(DEPLOYED_BOUNDS.awaitBudgetMs + look).toBeLessThanOrEqual(limitOf('await-sandbox'));
  });
});

describe('a task that takes as long to start as on Fargate', () => {
  let backstage: Backstage;
  beforeEach(async () => {
    backstage = createBackstage();
    await publishSkill(backstage);
    await putAgent(backstage);
  });
  const request = createRunSchema.parse({ agent: 'analyst', command: { argv: ['true'] } });
  const describes = () => [...backstage.sandboxes.tasks.values()].reduce((sum, { polls }) => sum + polls, 0);

  it('is awaited by one call, which looks about every two seconds', async () => {
    const { runs, steps } = startProcess(backstage, { orchestrator: 'none', bounds: DEPLOYED_BOUNDS });
    const run = refOf(await runs.create(FINGERPRINT, request));
    await steps.pinManifest(run);
    await steps.launchSandbox(run);
    backstage.sandboxes.startPolls = Number.POSITIVE_INFINITY;
    const began = backstage.clock.now();

    expect(await steps.awaitSandbox(run)).toEqual({ status: 'pending' });

    const waited = backstage.clock.now() - began;
    expect(waited).toBeGreaterThanOrEqual(DEPLOYED_BOUNDS.awaitBudgetMs);
    expect(waited).toBeLessThan(limitOf('await-sandbox'));
    expect(describes()).toBeGreaterThan(25);
    expect(describes()).toBeLessThan(40);
  });

  it('is seen at once when it runs at the first look', async () => {
    const { runs, steps } = startProcess(backstage, { orchestrator: 'none', bounds: DEPLOYED_BOUNDS });
    const run = refOf(await runs.create(FINGERPRINT, request));
    await steps.pinManifest(run);
    await steps.launchSandbox(run);
    const began = backstage.clock.now();

    expect(await steps.awaitSandbox(run)).toEqual({ status: 'done' });

    expect(backstage.clock.now()).toBe(began);
  });
});

describe('the turn of the function that fills the pools', () => {
  it('ends after the function does, and what it starts last has the time of a launch before', async () => {
    const clock = { now: () => 0, sleep: async () => undefined };
    let turn = 0;
    let starts = 0;
    const leases = {
      during: async (_name: string, seconds: number, work: () => Promise<void>) => {
        turn = seconds * SECOND;
        await work();
        return true;
      },
    };
    const pool = {
      fill: async (until = 0) => {
        starts = until;
      },
    };

    await createPoolKeeper({ pool, leases, clock }).keep();

    expect(turn).toBeGreaterThan(limitOf('pool'));
    expect(starts + LIMITS.launchTimeoutSeconds * SECOND).toBeLessThan(limitOf('pool'));
    expect(DEPLOYED_BOUNDS.startDeadlineMs).toBe(LIMITS.launchTimeoutSeconds * SECOND);
  });
});
