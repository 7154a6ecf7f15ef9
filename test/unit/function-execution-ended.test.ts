import { beforeEach, describe, expect, it } from 'vitest';
import { handler } from '../../functions/maintenance/execution-ended.ts';
import {
  type MaintenanceServices,
  provideMaintenanceServices,
} from '../../functions/runtime/maintenance-services.ts';
import { createRunSchema } from '../../shared/contracts/run.ts';
import type { RunRef } from '../../shared/contracts/workflow.ts';
import { KEYS } from '../../shared/domain/row-keys.ts';
import { TransientError } from '../../shared/domain/transient-error.ts';
import { createInterruptedRuns } from '../../shared/services/interrupted-runs.ts';
import { allEvents, expectRunClosed } from '../support/run-invariants.ts';
import {
  type Backstage,
  createBackstage,
  FINGERPRINT,
  OTHER_FINGERPRINT,
  type ProcessOptions,
  publishSkill,
  putAgent,
  refOf,
  SCRIPT_RUN,
  startProcess,
  type TestProcess,
} from '../support/run-world.ts';

let backstage: Backstage;
let process: TestProcess;
beforeEach(async () => {
  backstage = createBackstage();
  await publishSkill(backstage);
  await putAgent(backstage);
  process = start({ orchestrator: 'none' });
});

function start(options: ProcessOptions): TestProcess {
  const started = startProcess(backstage, options);
  const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const interrupted = createInterruptedRuns({ runs: started.records, steps: started.steps, logger });
  provideMaintenanceServices({ interrupted, logger } as unknown as MaintenanceServices);
  return started;
}

const createRun = async (): Promise<RunRef> =>
  refOf(await process.runs.create(FINGERPRINT, createRunSchema.parse(SCRIPT_RUN)));

/** As EventBridge delivers it; fields that nobody reads included. */
const eventOf = (run: RunRef, detail: Record<string, unknown> = {}) => ({
  version: '0',
  id: '315c1398-40ff-a850-213b-158f73e60175',
  'detail-type': 'Step Functions Execution Status Change',
  source: 'aws.states',
  account: '123456789012',
  time: '2026-11-30T12:00:00Z',
  region: 'eu-west-1',
  resources: [`arn:aws:states:eu-west-1:123456789012:execution:cognition-runs:${run.run_id}`],
  detail: {
    executionArn: `arn:aws:states:eu-west-1:123456789012:execution:cognition-runs:${run.run_id}`,
    stateMachineArn: 'arn:aws:states:eu-west-1:123456789012:stateMachine:cognition-runs',
    name: run.run_id,
    status: 'ABORTED',
    startDate: 1_551_225_271_984,
    stopDate: 1_551_225_291_984,
    input: JSON.stringify(run),
    inputDetails: { included: true },
    output: null,
    outputDetails: null,
    error: null,
    cause: null,
    ...detail,
  },
});

describe('an execution that ended from outside', () => {
  it.each([
    ['queued', 0],
    ['pinned', 1],
    ['launching', 2],
    ['materializing', 3],
    ['running', 4],
  ])('while its run was %s ends the run as interrupted, and its sandbox goes', async (status, steps) => {
    const run = await createRun();
    const { pinManifest, launchSandbox, awaitSandbox, materialize } = process.steps;
    for (const step of [pinManifest, launchSandbox, awaitSandbox, materialize].slice(0, steps)) {
      await step(run);
    }
    expect((await process.runs.get(FINGERPRINT, run.run_id)).status).toBe(status);

    await handler(eventOf(run));

    const ended = await expectRunClosed(backstage, process, run.run_id);
    expect(ended).toMatchObject({
      status: 'failed',
      failure: { code: 'run_interrupted', message: 'the run was stopped from outside; start it again' },
    });
  });

  it('twice, or two times at once, changes nothing more', async () => {
    const run = await createRun();
    await process.steps.pinManifest(run);
    await process.steps.launchSandbox(run);

    await Promise.all([handler(eventOf(run)), handler(eventOf(run))]);
    const once = await allEvents(process, run.run_id);
    await handler(eventOf(run));

    expect(await allEvents(process, run.run_id)).toEqual(once);
    await expectRunClosed(backstage, process, run.run_id);
  });

  it('after its run has ended leaves the run as it is, and takes its sandbox away', async () => {
    backstage.sandboxes.script = { stdout: 'done\n' };
    const run = await createRun();
    const { steps } = process;
    for (const step of [
      steps.pinManifest,
      steps.launchSandbox,
      steps.awaitSandbox,
      steps.materialize,
      steps.execute,
      steps.collectArtifacts,
      steps.finish,
    ]) {
      await step(run);
    }
    expect(backstage.sandboxes.alive()).toHaveLength(1);

    await handler(eventOf(run));

    const ended = await expectRunClosed(backstage, process, run.run_id);
    expect(ended).toMatchObject({ status: 'succeeded', failure: null });
  });

  it('of a run that was cancelled ends it as cancelled', async () => {
    const run = await createRun();
    await process.runs.cancel(FINGERPRINT, run.run_id);

    await handler(eventOf(run));

    expect((await expectRunClosed(backstage, process, run.run_id)).status).toBe('cancelled');
  });

  it('by the time-out of the machine says so', async () => {
    const run = await createRun();

    await handler(eventOf(run, { status: 'TIMED_OUT' }));

    const { failure } = await expectRunClosed(backstage, process, run.run_id);
    expect(failure?.code).toBe('run_interrupted');
    expect(failure?.message).toContain('in its time');
  });

  it('by a failure of its own ends the run with what failed', async () => {
    const run = await createRun();
    await process.steps.pinManifest(run);
    const cause = JSON.stringify({ errorType: 'cognition_transient', errorMessage: 'the table is busy' });

    await handler(eventOf(run, { status: 'FAILED', error: 'cognition_transient', cause }));

    const { failure } = await expectRunClosed(backstage, process, run.run_id);
    expect(failure).toMatchObject({ code: 'sandbox_unavailable', stage: 'launch' });
  });

  it.each([
    ['no input', { input: null, inputDetails: { included: false } }],
    ['an input that is no JSON', { input: 'x' }],
    [
      'an input of another run',
      { input: JSON.stringify({ fingerprint: OTHER_FINGERPRINT, run_id: '0'.repeat(26) }) },
    ],
  ])('with %s in the event is found by its name', async (_what, detail) => {
    const run = await createRun();

    await handler(eventOf(run, detail));

    expect((await expectRunClosed(backstage, process, run.run_id)).status).toBe('failed');
  });

  it('of a run that was never written, or is gone, is let pass', async () => {
    const run = { fingerprint: FINGERPRINT, run_id: '01JZ0000000000000000000000' };

    await handler(eventOf(run));
    await handler(eventOf(run, { input: null }));

    expect(await backstage.table.get(KEYS.run(FINGERPRINT, run.run_id))).toBeUndefined();
  });

  it('is thrown back for another try while the table is busy', async () => {
    const run = await createRun();
    const table = {
      get: backstage.table.get.bind(backstage.table),
      query: backstage.table.query.bind(backstage.table),
      transact: async () => {
        throw new TransientError('busy');
      },
    };
    start({ ports: { table } });

    await expect(handler(eventOf(run))).rejects.toThrow('busy');
  });

  it.each([
    ['another source', { source: 'aws.ec2' }],
    ['an execution that went well', { detail: { name: '0'.repeat(26), status: 'SUCCEEDED' } }],
    ['a name that is no run id', { detail: { name: 'manual-test', status: 'ABORTED' } }],
    ['nothing', undefined],
  ])('an event of %s is refused', async (_what, change) => {
    const event = change === undefined ? undefined : { ...eventOf(await createRun()), ...change };

    await expect(handler(event)).rejects.toMatchObject({ name: 'ZodError' });
  });
});
