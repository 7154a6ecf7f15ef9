import { beforeEach, describe, expect, it } from 'vitest';
import { LIMITS } from '../../shared/contracts/limits.ts';
import { createRunSchema } from '../../shared/contracts/run.ts';
import { isCognitionError } from '../../shared/domain/cognition-error.ts';
import { KEYS } from '../../shared/domain/row-keys.ts';
import { sha256Hex } from '../../shared/domain/sha256.ts';
import { TransientError } from '../../shared/domain/transient-error.ts';
import { ConditionFailed } from '../../shared/ports/table-store.ts';
import { Fate, mortal } from '../support/mortal-ports.ts';
import { allEvents } from '../support/run-invariants.ts';
import {
  type Backstage,
  createBackstage,
  FINGERPRINT,
  OTHER_FINGERPRINT,
  publishSkill,
  putAgent,
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
  process = startProcess(backstage);
});

const create = (request: Record<string, unknown>, from = process) =>
  from.runs.create(FINGERPRINT, createRunSchema.parse(request));

async function refusal(
  work: Promise<unknown>,
): Promise<{ code: string; message: string; pointers: string[] }> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isCognitionError(error)) throw new Error('not refused', { cause: error });
  const pointers = (error.details.errors ?? []).map(({ pointer }) => pointer);
  return { code: error.code, message: error.message, pointers };
}

async function expectNothingStored(): Promise<void> {
  expect((await process.runs.list(FINGERPRINT, { limit: 10 })).items).toEqual([]);
  expect((await backstage.table.query(KEYS.slots(FINGERPRINT))).rows).toEqual([]);
}

describe('a run that cannot start is refused and nothing is stored', () => {
  const cases: [name: string, request: Record<string, unknown>, code: string, word: string][] = [
    ['no such agent', { ...SCRIPT_RUN, agent: 'nobody' }, 'agent_not_found', 'nobody'],
    [
      'a skill that the agent does not attach',
      { ...SCRIPT_RUN, command: { skill: 'other', script: 'a.sh' } },
      'skill_not_found',
      'not attached',
    ],
    [
      'a script that is not in the package',
      { ...SCRIPT_RUN, command: { skill: 'report', script: 'scripts/none.sh' } },
      'script_not_found',
      'scripts/none.sh',
    ],
    [
      'a script by another name of its path',
      { ...SCRIPT_RUN, command: { skill: 'report', script: './scripts/run.sh' } },
      'script_not_found',
      './scripts/run.sh',
    ],
    [
      'an environment name the profile does not allow',
      { ...SCRIPT_RUN, env: { OTHER: '1' } },
      'invalid_request',
      'MODE',
    ],
    [
      'an environment name that nobody may set',
      { ...SCRIPT_RUN, env: { LD_PRELOAD: '1' } },
      'invalid_request',
      'LD_PRELOAD',
    ],
    ['an absolute output glob', { ...SCRIPT_RUN, outputs: ['/etc/*'] }, 'invalid_request', 'relative'],
    ['an output glob that climbs', { ...SCRIPT_RUN, outputs: ['a/../../*'] }, 'invalid_request', '".."'],
    [
      'JSON for stdin that is too long',
      { ...SCRIPT_RUN, stdin_json: 'x'.repeat(LIMITS.stdinBytes) },
      'invalid_request',
      'stdin_json',
    ],
  ];
  it.each(cases)('%s', async (_name, request, code, word) => {
    const refused = await refusal(create(request));

    expect(refused.code).toBe(code);
    expect(refused.message).toContain(word);
    await expectNothingStored();
  });

  it('an agent that attaches a skill that is missing', async () => {
    await putAgent(backstage, { skills: ['report', 'ghost'] });

    expect(await refusal(create(SCRIPT_RUN))).toMatchObject({ code: 'skill_not_found' });
    await expectNothingStored();
  });

  it('an agent that attaches a skill that is disabled', async () => {
    const key = KEYS.skill(FINGERPRINT, 'report');
    const row = await backstage.table.get(key);
    await backstage.table.transact([
      { kind: 'put', key, data: { ...(row?.data as Record<string, string>), enabled: false } },
    ]);

    expect(await refusal(create(SCRIPT_RUN))).toMatchObject({ code: 'skill_disabled' });
    await expectNothingStored();
  });

  it('an agent whose sandbox profile this deployment does not have', async () => {
    await putAgent(backstage, { sandbox_profile: 'gpu' });

    expect(await refusal(create(SCRIPT_RUN))).toMatchObject({ code: 'invalid_request' });
  });

  it('an agent of another scope', async () => {
    const other = process.runs.create(OTHER_FINGERPRINT, createRunSchema.parse(SCRIPT_RUN));

    expect(await refusal(other)).toMatchObject({ code: 'agent_not_found' });
  });

  it.each([['../up'], ['/abs'], ['a//b'], ['a/./b'], ['a\\b'], ['a\u0007b'], ['\ud800'], ['x'.repeat(256)]])(
    'an input at the path %j',
    async (path) => {
      const { artifact_id } = await process.inputs.create(FINGERPRINT, Buffer.from('x'), 'text/plain');

      const refused = await refusal(create({ ...SCRIPT_RUN, inputs: [{ artifact_id, path }] }));

      expect(refused).toMatchObject({ code: 'invalid_request', pointers: ['/inputs/0/path'] });
    },
  );

  it('two inputs at one path, or one below the other', async () => {
    const { artifact_id } = await process.inputs.create(FINGERPRINT, Buffer.from('x'), 'text/plain');
    const inputs = ['a', 'a', 'a/b'].map((path) => ({ artifact_id, path }));

    const refused = await refusal(create({ ...SCRIPT_RUN, inputs }));

    expect(refused.pointers).toEqual(['/inputs/1/path', '/inputs/2/path']);
  });

  it('an input that is missing, another scope’s or past its retention', async () => {
    const mine = await process.inputs.create(FINGERPRINT, Buffer.from('x'), 'text/plain');
    const theirs = await process.inputs.create(OTHER_FINGERPRINT, Buffer.from('x'), 'text/plain');
    const withInput = (artifact_id: string) => ({ ...SCRIPT_RUN, inputs: [{ artifact_id, path: 'a' }] });

    const missing = await refusal(create(withInput('0'.repeat(26))));
    const foreign = await refusal(create(withInput(theirs.artifact_id)));
    backstage.clock.advance(LIMITS.inputRetentionSeconds * 1_000);
    const old = await refusal(create(withInput(mine.artifact_id)));

    expect([missing.code, foreign.code, old.code]).toEqual(['not_found', 'not_found', 'not_found']);
  });
});

describe('a run that is accepted', () => {
  it('is answered as queued, with the caller’s own writes in the same transaction', async () => {
    const key = { pk: 'idempotency', sk: 'k' };
    const run = await process.runs.create(FINGERPRINT, createRunSchema.parse(SCRIPT_RUN), (made) => [
      { kind: 'put', key, data: { run_id: made.run_id }, if: { absent: true } },
    ]);

    expect(run).toMatchObject({ status: 'queued', stage: 'queue', stdout: '', failure: null });
    expect((await backstage.table.get(key))?.data).toEqual({ run_id: run.run_id });
    await process.orchestrator.idle();
  });

  it('does not happen when a condition of the caller does not hold', async () => {
    const key = { pk: 'idempotency', sk: 'k' };
    await backstage.table.transact([{ kind: 'put', key, data: {} }]);

    const refused = process.runs.create(FINGERPRINT, createRunSchema.parse(SCRIPT_RUN), () => [
      { kind: 'put', key, data: {}, if: { absent: true } },
    ]);

    await expect(refused).rejects.toBeInstanceOf(ConditionFailed);
    await expectNothingStored();
  });

  it.each(['before', 'after'] as const)(
    'is stored once when the table fails %s the write',
    async (moment) => {
      const fate = new Fate('fault', 1, moment);
      const { table } = mortal(backstage, fate);
      const faulty = startProcess(backstage, { ports: { table } });

      const { run_id } = await create(SCRIPT_RUN, faulty);
      await faulty.orchestrator.idle();

      const { items } = await faulty.runs.list(FINGERPRINT, { limit: 10 });
      expect(items).toMatchObject([{ run_id, status: 'succeeded' }]);
      expect((await backstage.table.query(KEYS.slots(FINGERPRINT))).rows).toEqual([]);
    },
  );

  it('reads JSON as text on stdin, and the manifest keeps only hashes of what is secret', async () => {
    const run = await process.run({
      agent: 'analyst',
      command: { skill: 'report', script: 'scripts/run.sh', args: ['sesame-arg'] },
      stdin_json: { k: 'sesame-stdin' },
      env: { MODE: 'sesame-env' },
    });

    const [task] = backstage.sandboxes.tasks.values();
    expect(Buffer.from(task?.exec?.request.stdin ?? '', 'base64').toString()).toBe('{"k":"sesame-stdin"}');
    expect(task?.exec?.request.env).toEqual({ MODE: 'sesame-env' });
    const { manifest, manifest_digest } = await process.runs.getManifest(FINGERPRINT, run.run_id);
    expect(run.manifest_digest).toBe(manifest_digest);
    const items = await allEvents(process, run.run_id);
    expect(JSON.stringify([manifest, items, run, process.log])).not.toContain('sesame');
    expect(manifest.command.stdin_sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  it('gives the script every name of its JSON, `__proto__` too', async () => {
    const stdin = '{"__proto__":1,"a":[{"__proto__":{"b":2}}]}';

    const { run_id } = await create({ ...SCRIPT_RUN, stdin_json: JSON.parse(stdin) });
    await process.orchestrator.idle();

    const { manifest } = await process.runs.getManifest(FINGERPRINT, run_id);
    expect(manifest.command.stdin_sha256).toBe(sha256Hex(stdin));
  });

  it('is refused with a variable `__proto__`, which a record would drop in silence', () => {
    const request = JSON.parse(`{"agent":"a","command":{"argv":["true"]},"env":{"__proto__":"x"}}`);

    const parsed = createRunSchema.safeParse(request);

    expect(parsed.error?.issues.map(({ path }) => path)).toEqual([['env', '__proto__']]);
  });

  it('has the same manifest digest as another run of the same things', async () => {
    const [one, two] = [await process.run(SCRIPT_RUN), await process.run(SCRIPT_RUN)];

    expect(one.manifest_digest).toBe(two.manifest_digest);
    const other = await process.run({ ...SCRIPT_RUN, timeout_seconds: 5 });
    expect(other.manifest_digest).not.toBe(one.manifest_digest);
  });

  it('gives a custom subagent its subset and a general one everything', async () => {
    await publishSkill(backstage, 'extra');
    await putAgent(backstage, {
      skills: ['report', 'extra'],
      subagents: [{ name: 'general' }, { name: 'narrow', skills: ['extra'] }, { name: 'bare', skills: [] }],
    });

    const run = await process.run(SCRIPT_RUN);

    const { manifest } = await process.runs.getManifest(FINGERPRINT, run.run_id);
    expect(manifest.packages.map(({ name }) => name)).toEqual(['report', 'extra']);
    expect(manifest.subagents).toEqual([
      { name: 'general', packages: ['report', 'extra'] },
      { name: 'narrow', packages: ['extra'] },
      { name: 'bare', packages: [] },
    ]);
  });

  it('may take a package name of JavaScript’s own, and stdin and args of the full length', async () => {
    const stdin = '\u0001'.repeat(LIMITS.stdinBytes);
    const run = await process.run({ ...SCRIPT_RUN, stdin });

    expect(run.status).toBe('succeeded');
    const [task] = backstage.sandboxes.tasks.values();
    expect(Buffer.from(task?.exec?.request.stdin ?? '', 'base64').toString() === stdin).toBe(true);
  });

  it('warns on every run where isolation was taken away', async () => {
    backstage.sandboxes.isolation = 'none';

    const run = await process.run(SCRIPT_RUN);

    expect(run.warnings).toEqual([expect.stringContaining('WITHOUT isolation')]);
  });

  it('is started by the sweeper when the machine could not be', async () => {
    const orchestrator = process.orchestrator;
    const start = orchestrator.start;
    orchestrator.start = async () => {
      throw new TransientError('throttled');
    };
    const { run_id } = await create(SCRIPT_RUN).finally(() => {
      orchestrator.start = start;
    });
    backstage.clock.advance(11_000);

    const swept = await process.sweeper.sweep();

    await orchestrator.idle();
    expect(swept).toEqual({ started: 1, ended: 0, torn_down: 0 });
    expect((await process.runs.get(FINGERPRINT, run_id)).status).toBe('succeeded');
  });
});

describe('the quota of runs at once', () => {
  it('refuses one run more with a time to come back, and takes it after one has ended', async () => {
    const queueing = startProcess(backstage, { orchestrator: 'none', runsAtOnce: 3 });
    for (let count = 0; count < 3; count += 1) await create(SCRIPT_RUN, queueing);

    const refused = create(SCRIPT_RUN, queueing);

    await expect(refused).rejects.toMatchObject({
      code: 'quota_exceeded',
      details: { retryAfterSeconds: 5 },
    });
    await queueing.resume();
    await expect(create(SCRIPT_RUN, queueing)).resolves.toMatchObject({ status: 'queued' });
  });

  it('counts each scope by itself', async () => {
    const queueing = startProcess(backstage, { orchestrator: 'none', runsAtOnce: 1 });
    await publishSkill(backstage, 'report', { 'scripts/run.sh': '#!/bin/sh\n' }, OTHER_FINGERPRINT);
    await putAgent(backstage, {}, OTHER_FINGERPRINT);
    await create(SCRIPT_RUN, queueing);

    const other = queueing.runs.create(OTHER_FINGERPRINT, createRunSchema.parse(SCRIPT_RUN));

    await expect(other).resolves.toMatchObject({ status: 'queued' });
  });

  it('lets no more in when many ask at once', async () => {
    const queueing = startProcess(backstage, { orchestrator: 'none', runsAtOnce: 8 });

    const asked = await Promise.allSettled(Array.from({ length: 30 }, () => create(SCRIPT_RUN, queueing)));

    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(8);
    const reasons = asked.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []));
    expect(new Set(reasons)).toEqual(new Set(['quota_exceeded']));
  });

  it('takes back the slot of a run that was lost when its lease is over', async () => {
    const queueing = startProcess(backstage, { orchestrator: 'none', runsAtOnce: 1 });
    await create(SCRIPT_RUN, queueing);
    backstage.clock.advance(2 * 3_600_000);

    await expect(create(SCRIPT_RUN, queueing)).resolves.toMatchObject({ status: 'queued' });
  });
});
