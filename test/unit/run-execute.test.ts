import { beforeEach, describe, expect, it } from 'vitest';
import type { ExecStatus } from '../../shared/contracts/daemon.ts';
import type { RunEvent } from '../../shared/contracts/event.ts';
import { LIMITS } from '../../shared/contracts/limits.ts';
import { createRunSchema } from '../../shared/contracts/run.ts';
import { TransientError } from '../../shared/domain/transient-error.ts';
import { type SandboxClient, SandboxRefused } from '../../shared/ports/sandbox-client.ts';
import { allEvents, expectRunClosed } from '../support/run-invariants.ts';
import {
  type Backstage,
  createBackstage,
  FINGERPRINT,
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

const outputEvents = async (runId: string): Promise<RunEvent[]> =>
  (await allEvents(process, runId)).filter(({ type }) => type === 'command.output');

describe('what the script does is the run’s result', () => {
  it('fails with script_failed and the exit code, and its outputs are collected all the same', async () => {
    backstage.sandboxes.script = { exit_code: 3, stderr: 'boom\n', outputs: { 'partial.txt': 'x' } };

    const run = await process.run(SCRIPT_RUN);

    expect(run).toMatchObject({
      status: 'failed',
      exit_code: 3,
      stderr: 'boom\n',
      artifact_count: 1,
      failure: { code: 'script_failed', stage: 'execute' },
    });
  });

  it('has 128 and the number of the signal that ended it', async () => {
    backstage.sandboxes.script = { signal: 'SIGSEGV', exit_code: 139 };

    const run = await process.run(SCRIPT_RUN);

    expect(run).toMatchObject({ status: 'failed', exit_code: 139, signal: 'SIGSEGV' });
  });

  it('is timed_out past its deadline, with streams and outputs so far', async () => {
    backstage.sandboxes.script = { duration: 60_000, stdout: 'so far', outputs: { 'early.txt': 'x' } };

    const run = await process.run({ ...SCRIPT_RUN, timeout_seconds: 2 });

    expect(run).toMatchObject({
      status: 'timed_out',
      stdout: 'so far',
      artifact_count: 1,
      failure: { code: 'run_timed_out', stage: 'execute' },
    });
  });

  it('keeps script_failed when the outputs cannot be collected after it', async () => {
    backstage.sandboxes.script = { exit_code: 3 };
    const client: SandboxClient = {
      ...backstage.client,
      listOutputs: async () => {
        throw new TransientError('silent');
      },
    };
    process = startProcess(backstage, { ports: { client } });

    const run = await process.run(SCRIPT_RUN);

    expect(run).toMatchObject({ status: 'failed', failure: { code: 'script_failed' } });
    expect(run.warnings).toHaveLength(1);
  });
});

describe('streams', () => {
  it('are kept to the cap, in events of at most 32 KiB, and say that more was written', async () => {
    backstage.sandboxes.script = { stdout: 'é'.repeat(200_000), stderr: 'e'.repeat(70_000) };

    const run = await process.run(SCRIPT_RUN);

    expect(run.stdout).toBe('é'.repeat(131_072));
    expect([run.stdout_truncated, run.stderr_truncated]).toEqual([true, false]);
    const events = await outputEvents(run.run_id);
    const sizes = events.map(({ data }) => Buffer.byteLength(String(data.text)));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(LIMITS.eventOutputBytes);
    const text = events.filter(({ data }) => data.stream === 'stdout').map(({ data }) => data.text);
    expect(text.join('')).toBe(run.stdout);
  });

  it('have U+FFFD where bytes are not UTF-8, keep NUL and BOM, and stay within the cap as text', async () => {
    const bytes = Buffer.concat([Buffer.from('\ufeffa\0b'), Buffer.from([0xff, 0xc3]), Buffer.from('z')]);
    backstage.sandboxes.script = { stdout: bytes, stderr: Buffer.alloc(256 * 1024, 0xff) };

    const run = await process.run(SCRIPT_RUN);

    expect(run.stdout).toBe('\ufeffa\0b\ufffd\ufffdz');
    expect(Buffer.byteLength(run.stderr)).toBeLessThanOrEqual(LIMITS.streamBytes);
    expect(run.stderr_truncated).toBe(true);
    expect(new Set(run.stderr)).toEqual(new Set(['\ufffd']));
  });

  it('can be read while the command runs', async () => {
    backstage.sandboxes.script = { duration: 30_000, stdout: 'early\n' };
    let seen: { status: string; stdout: string; started: boolean } | undefined;
    const client: SandboxClient = {
      ...backstage.client,
      execStatus: async (handle, id, query) => {
        const now = await process.runs.get(FINGERPRINT, handle.run_id);
        if (now.stdout !== '') {
          seen ??= { status: now.status, stdout: now.stdout, started: now.timings.started_at !== null };
        }
        return backstage.client.execStatus(handle, id, query);
      },
    };
    process = startProcess(backstage, { ports: { client } });

    await process.run(SCRIPT_RUN);

    expect(seen).toEqual({ status: 'running', stdout: 'early\n', started: true });
  });
});

describe('a long command', () => {
  it('is followed over several Execute calls, each of bounded time', async () => {
    backstage.sandboxes.script = { duration: 150_000, stdout: 'x' };

    const run = await process.run({ ...SCRIPT_RUN, timeout_seconds: 600 });

    expect(run.status).toBe('succeeded');
    const calls = process.log.filter(({ fields }) => fields.step === 'Execute');
    expect(calls).toHaveLength(4);
    for (const { fields } of calls) expect(fields.ms).toBeLessThan(45_000);
  });

  it('attributes each refused egress to the run', async () => {
    backstage.sandboxes.script = { egress_denied: ['crm', '../evil\n'] };

    const run = await process.run(SCRIPT_RUN);

    const items = await allEvents(process, run.run_id);
    const denied = items.filter(({ type }) => type === 'egress.denied').map(({ data }) => data.alias);
    expect(denied).toEqual(['crm', '?']);
    expect(items.find(({ type }) => type === 'command.exited')?.data.egress_denied_total).toBe(2);
  });
});

describe('a daemon that lies about its command', () => {
  const lying = (change: (status: ExecStatus) => ExecStatus): SandboxClient => ({
    ...backstage.client,
    execStatus: async (...call) => change(await backstage.client.execStatus(...call)),
  });
  const lies: [string, (status: ExecStatus) => ExecStatus][] = [
    [
      'a slice that skips',
      (s) => ({ ...s, stdout: { ...s.stdout, next_offset: s.stdout.next_offset + 5, length: 99 } }),
    ],
    ['a slice that goes back', (s) => ({ ...s, stdout: { ...s.stdout, data: '', next_offset: -1 } })],
    ['more than the cap', (s) => ({ ...s, stdout: { ...s.stdout, length: 10_000_000 } })],
    [
      'more to come and nothing given',
      (s) => ({ ...s, stdout: { ...s.stdout, data: '', next_offset: 0, length: 9 } }),
    ],
  ];
  it.each(lies)('with %s ends the run as interrupted', async (_name, lie) => {
    backstage.sandboxes.script = { stdout: 'abc' };
    process = startProcess(backstage, { ports: { client: lying(lie) } });

    const run = await process.run(SCRIPT_RUN);

    const closed = await expectRunClosed(backstage, process, run.run_id);
    expect(closed).toMatchObject({
      status: 'failed',
      failure: { code: 'run_interrupted', stage: 'execute' },
    });
    expect(backstage.sandboxes.alive()).toEqual([]);
  });

  it('has no words of its own in an event', async () => {
    const claims = [{ alias: '\u001b[2J', at: '\u001b]0;title\u0007' }];
    const client = lying((status) => ({ ...status, egress_denied: claims }));
    process = startProcess(backstage, { ports: { client } });

    const run = await process.run(SCRIPT_RUN);

    const denied = (await allEvents(process, run.run_id)).find(({ type }) => type === 'egress.denied');
    expect(denied?.data).toEqual({ alias: '?', at: '?' });
  });

  it('that gives all it claims to have in crumbs is not asked again and again', async () => {
    let polls = 0;
    const crumbs = (status: ExecStatus, offset: number): ExecStatus => ({
      ...status,
      state: 'running',
      stdout: { data: 'eA==', next_offset: offset + 1, length: LIMITS.streamBytes, truncated: false },
    });
    const client: SandboxClient = {
      ...backstage.client,
      execStatus: async (handle, execId, query) => {
        polls += 1;
        return crumbs(await backstage.client.execStatus(handle, execId, query), query.stdout_offset);
      },
    };
    process = startProcess(backstage, { ports: { client } });

    const run = await process.run({ ...SCRIPT_RUN, timeout_seconds: 2 });

    expect(run.failure).toMatchObject({ code: 'run_timed_out' });
    expect(polls).toBeLessThan(1_000);
  });

  it('that never says "exited" is stopped a little after the deadline', async () => {
    const never = (status: ExecStatus): ExecStatus => ({ ...status, state: 'running' });
    const slow: SandboxClient = {
      ...backstage.client,
      execStatus: async (handle, id, query) => {
        backstage.clock.advance(query.wait_ms);
        return never(await backstage.client.execStatus(handle, id, query));
      },
    };
    process = startProcess(backstage, { ports: { client: slow } });

    const run = await process.run({ ...SCRIPT_RUN, timeout_seconds: 2 });

    expect(run).toMatchObject({ status: 'timed_out', failure: { code: 'run_timed_out' } });
    expect(backstage.sandboxes.alive()).toEqual([]);
  });
});

describe('a sandbox that is lost', () => {
  it('while the command runs ends the run as interrupted', async () => {
    backstage.sandboxes.script = { duration: 30_000, stdout: 'so far' };
    const client: SandboxClient = {
      ...backstage.client,
      execStatus: async (handle, id, query) => {
        if (query.stdout_offset > 0) backstage.sandboxes.loseAll();
        return backstage.client.execStatus(handle, id, query);
      },
    };
    process = startProcess(backstage, { ports: { client } });
    backstage.sandboxes.startPolls = 300;

    const run = await process.run(SCRIPT_RUN);

    const closed = await expectRunClosed(backstage, process, run.run_id);
    expect(closed).toMatchObject({
      status: 'failed',
      stdout: 'so far',
      failure: { code: 'run_interrupted' },
    });
  });
});

describe('cancel', () => {
  it('ends a queued run as cancelled, without a sandbox', async () => {
    const queueing = startProcess(backstage, { orchestrator: 'none' });
    const { run_id } = await queueing.runs.create(FINGERPRINT, createRunSchema.parse(SCRIPT_RUN));

    const asked = await queueing.runs.cancel(FINGERPRINT, run_id);
    await queueing.resume();

    expect(asked).toMatchObject({ status: 'queued', cancel_requested: true });
    const closed = await expectRunClosed(backstage, queueing, run_id);
    expect(closed).toMatchObject({ status: 'cancelled', failure: { code: 'run_cancelled', stage: 'queue' } });
    expect(backstage.sandboxes.tasks.size).toBe(0);
  });

  it('stops a command that runs, keeps what it wrote, and may be repeated', async () => {
    backstage.sandboxes.script = { duration: 60_000, stdout: 'so far' };
    let cancelled = 0;
    const client: SandboxClient = {
      ...backstage.client,
      execStatus: async (handle, id, query) => {
        if (query.stdout_offset > 0) {
          cancelled += 1;
          await process.runs.cancel(FINGERPRINT, handle.run_id);
          await process.runs.cancel(FINGERPRINT, handle.run_id);
        }
        return backstage.client.execStatus(handle, id, query);
      },
    };
    process = startProcess(backstage, { ports: { client } });

    const run = await process.run(SCRIPT_RUN);

    expect(cancelled).toBe(1);
    const closed = await expectRunClosed(backstage, process, run.run_id);
    expect(closed).toMatchObject({
      status: 'cancelled',
      stdout: 'so far',
      failure: { code: 'run_cancelled' },
    });
  });

  it('changes nothing about a run that has ended', async () => {
    const run = await process.run(SCRIPT_RUN);

    const answer = await process.runs.cancel(FINGERPRINT, run.run_id);

    expect(answer).toEqual(run);
  });
});

describe('a sandbox whose address is another’s by now', () => {
  it('is known as lost, in every step that calls it', async () => {
    for (const call of ['bind', 'execStatus', 'listOutputs'] as const) {
      backstage = createBackstage();
      await publishSkill(backstage);
      await putAgent(backstage);
      const client: SandboxClient = {
        ...backstage.client,
        [call]: async () => {
          backstage.sandboxes.loseAll();
          throw new SandboxRefused('bad_signature', 'not the sandbox that was meant');
        },
      };
      process = startProcess(backstage, { ports: { client } });

      const run = await process.run(SCRIPT_RUN);

      const closed = await expectRunClosed(backstage, process, run.run_id);
      expect(closed.failure?.code, call).toBe('run_interrupted');
    }
  });
});
