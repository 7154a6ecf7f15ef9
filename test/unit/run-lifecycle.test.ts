import { beforeEach, describe, expect, it } from 'vitest';
import { createRunSchema } from '../../shared/contracts/run.ts';
import { sandboxProfileSchema } from '../../shared/contracts/sandbox-profile.ts';
import { KEYS } from '../../shared/domain/row-keys.ts';
import { allEvents } from '../support/run-invariants.ts';
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

describe('a run that goes well', () => {
  it('passes every stage and keeps streams, artifacts and numbered events', async () => {
    backstage.sandboxes.script = {
      stdout: 'hello\n',
      stderr: 'note\n',
      outputs: { 'report.json': '{}', 'sub/.hidden': 'x' },
    };
    const process = startProcess(backstage);

    const run = await process.run(SCRIPT_RUN);

    expect(run).toMatchObject({
      status: 'succeeded',
      stage: 'finish',
      exit_code: 0,
      stdout: 'hello\n',
      stderr: 'note\n',
      stdout_truncated: false,
      failure: null,
      warnings: [],
      artifact_count: 2,
    });
    expect(Object.values(run.timings)).not.toContain(null);
    const events = await allEvents(process, run.run_id);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    expect(events.map(({ type }) => type)).toEqual([
      'run.queued',
      'run.pinned',
      'sandbox.requested',
      'sandbox.ready',
      'package.materialized',
      'sandbox.sealed',
      'command.started',
      'command.output',
      'command.output',
      'command.exited',
      'artifact.collected',
      'artifact.collected',
      'run.succeeded',
      'sandbox.stopped',
    ]);
  });

  it('leaves no task, key, slot, request or place in the list of active runs', async () => {
    const process = startProcess(backstage);

    const run = await process.run({ ...SCRIPT_RUN, stdin: 'secret', env: { MODE: 'x' } });

    expect(run.status).toBe('succeeded');
    expect(backstage.sandboxes.alive()).toEqual([]);
    expect((await backstage.table.query(KEYS.slots(FINGERPRINT))).rows).toEqual([]);
    expect(await backstage.table.get(KEYS.activeRun(run.run_id))).toBeUndefined();
    const [task] = backstage.sandboxes.tasks.values();
    expect(await backstage.table.get(KEYS.sandboxKey(task?.request.sandbox_id ?? ''))).toBeUndefined();
    const owner = `run-request#${FINGERPRINT}#${run.run_id}`;
    expect((await backstage.table.query(KEYS.blob(owner))).rows).toEqual([]);
  });

  it('takes few transactions and daemon calls', async () => {
    const process = startProcess(backstage, { poolSize: 1 });
    await process.pool.fill();
    backstage.sandboxes.calls = [];
    backstage.sandboxes.script = { stdout: 'x', outputs: { 'a.txt': 'a' } };
    let transactions = 0;
    const transact = backstage.table.transact.bind(backstage.table);
    backstage.table.transact = (writes) => {
      // Filling the pool again is not on the run's way.
      if (
        writes[0]?.key.pk.startsWith('sandbox-key#') !== true &&
        writes[0]?.key.pk.startsWith('pool#') !== true
      ) {
        transactions += 1;
      }
      return transact(writes);
    };

    const run = await process.run(SCRIPT_RUN);

    expect(run.status).toBe('succeeded');
    expect(transactions).toBe(8);
    expect(backstage.sandboxes.calls.filter((call) => call !== 'launch')).toEqual([
      'bind',
      'putPackage',
      'seal',
      'exec',
      'execStatus',
      'listOutputs',
      'getOutput',
      'stop',
    ]);
  });

  it('needs no skill when the command is a program of the sandbox', async () => {
    await putAgent(backstage, { skills: [] });
    backstage.sandboxes.script = { stdout: 'x' };
    const process = startProcess(backstage);

    const run = await process.run({ agent: 'analyst', command: { argv: ['true', '--', 'x'] } });

    expect(run.status).toBe('succeeded');
    const [task] = backstage.sandboxes.tasks.values();
    expect(task?.exec?.request.command).toEqual({ argv: ['true', '--', 'x'] });
    const { manifest } = await process.runs.getManifest(FINGERPRINT, run.run_id);
    expect(manifest.command).toMatchObject({ skill: null, script: null });
  });
});

describe('what changes between POST and the step that needs it', () => {
  it('is held against the rules of the profile that the agent names by then', async () => {
    const profiles = [DEFAULT_PROFILE, sandboxProfileSchema.parse({ name: 'bare' })];
    const asked = createRunSchema.parse({ ...SCRIPT_RUN, env: { MODE: 'fast' } });
    const { run_id } = await startProcess(backstage, { orchestrator: 'none', profiles }).runs.create(
      FINGERPRINT,
      asked,
    );
    await putAgent(backstage, { sandbox_profile: 'bare' });
    const process = startProcess(backstage, { profiles });

    await process.resume();

    const run = await process.runs.get(FINGERPRINT, run_id);
    expect(run).toMatchObject({ status: 'failed', failure: { code: 'invalid_request', stage: 'pin' } });
    expect(backstage.sandboxes.tasks.size).toBe(0);
  });

  it('never starts another image than the manifest names', async () => {
    const images = ['image-pinned', 'image-deployed-since'];
    const provisioner = { ...backstage.provisioner, imageIdentity: async () => images.shift() ?? 'image-x' };
    const process = startProcess(backstage, { ports: { provisioner } });

    const run = await process.run(SCRIPT_RUN);

    expect(run.failure).toMatchObject({ code: 'sandbox_unavailable', stage: 'launch' });
    expect(run.failure?.message).toContain('start the run again');
    expect(backstage.sandboxes.tasks.size).toBe(0);
  });
});
