import { beforeEach, describe, expect, it } from 'vitest';
import { STEP_HANDLERS } from '../../functions/run-steps/step-handlers.ts';
import { TRANSIENT_ERROR } from '../../shared/contracts/workflow.ts';
import { CognitionError } from '../../shared/domain/cognition-error.ts';
import { allEvents, expectRunClosed } from '../support/run-invariants.ts';
import {
  type Backstage,
  createBackstage,
  publishSkill,
  putAgent,
  SCRIPT_RUN,
  startProcess,
} from '../support/run-world.ts';

type State = keyof typeof STEP_HANDLERS;
type Handler = (event: unknown) => Promise<unknown>;

const named = (name: string, message = 'thrown by the test'): Error =>
  Object.assign(new Error(message), { name });

let backstage: Backstage;
beforeEach(async () => {
  backstage = createBackstage();
  await publishSkill(backstage);
  await putAgent(backstage);
  backstage.sandboxes.script = { stdout: 'x', outputs: { 'a.txt': 'a' } };
});

const faulty = (state: State, wrap: (handler: Handler, calls: number) => Handler) => {
  let calls = 0;
  const handler: Handler = (event) => {
    calls += 1;
    return wrap(STEP_HANDLERS[state], calls)(event);
  };
  return startProcess(backstage, { handlers: { [state]: handler } });
};
const fails =
  (error: Error): Handler =>
  async () => {
    throw error;
  };

const ON_THE_WAY: readonly State[] = [
  'PinManifest',
  'LaunchSandbox',
  'AwaitSandbox',
  'Materialize',
  'Execute',
  'CollectArtifacts',
  'Finish',
];

describe.each([...ON_THE_WAY, 'Teardown' as const])('%s', (state) => {
  it.each([TRANSIENT_ERROR, 'Lambda.TooManyRequestsException', 'Lambda.Unknown'])(
    'is tried again after one %s',
    async (name) => {
      const process = faulty(state, (handler, calls) => (calls === 1 ? fails(named(name)) : handler));

      const run = await process.run(SCRIPT_RUN);

      expect((await expectRunClosed(backstage, process, run.run_id)).status).toBe('succeeded');
    },
  );

  it('may do its work and lose the answer', async () => {
    const process = faulty(state, (handler, calls) => async (event) => {
      const answer = await handler(event);
      if (calls === 1) throw named('Lambda.SdkClientException');
      return answer;
    });

    const run = await process.run(SCRIPT_RUN);

    expect((await expectRunClosed(backstage, process, run.run_id)).status).toBe('succeeded');
    expect(backstage.sandboxes.execs).toBe(1);
  });
});

describe('a state that fails for good', () => {
  const expected: Record<string, { code: string; stage: string }> = {
    PinManifest: { code: 'internal_error', stage: 'pin' },
    LaunchSandbox: { code: 'sandbox_unavailable', stage: 'launch' },
    AwaitSandbox: { code: 'sandbox_unavailable', stage: 'launch' },
    Materialize: { code: 'package_unavailable', stage: 'materialize' },
    Execute: { code: 'run_interrupted', stage: 'execute' },
    CollectArtifacts: { code: 'collection_failed', stage: 'collect' },
    Finish: { code: 'internal_error', stage: 'finish' },
  };
  it.each(ON_THE_WAY)('%s, with what should pass, ends the run with the code of its stage', async (state) => {
    const process = faulty(state, () => fails(named(TRANSIENT_ERROR)));

    const run = await process.run(SCRIPT_RUN);

    const closed = await expectRunClosed(backstage, process, run.run_id);
    expect(closed.status).toBe('failed');
    expect(closed.failure).toMatchObject(expected[state] ?? {});
  });

  it.each(ON_THE_WAY)('%s, with an error of nobody, tells nothing of it', async (state) => {
    const process = faulty(state, () => fails(new TypeError('tenant-secret is not a function')));

    const run = await process.run(SCRIPT_RUN);

    const closed = await expectRunClosed(backstage, process, run.run_id);
    expect(closed.failure?.code).toBe('internal_error');
    expect(JSON.stringify(closed)).not.toContain('tenant-secret');
  });

  it.each(ON_THE_WAY)('%s, with a stable code, ends the run with it and its message', async (state) => {
    const failure = new CognitionError('package_unavailable', 'the package of the test is gone');
    const process = faulty(state, () => fails(named(failure.code, failure.message)));

    const run = await process.run(SCRIPT_RUN);

    const closed = await expectRunClosed(backstage, process, run.run_id);
    expect(closed.failure).toMatchObject({ code: failure.code, message: failure.message });
  });

  it('RecordFailure makes the execution fail after the sandbox is stopped, and the run is ended outside it', async () => {
    const process = startProcess(backstage, {
      handlers: { Execute: fails(new Error('broken')), RecordFailure: fails(new Error('broken too')) },
    });

    const run = await process.run(SCRIPT_RUN);

    const closed = await expectRunClosed(backstage, process, run.run_id);
    expect(closed.failure).toMatchObject({ code: 'internal_error', stage: 'execute' });
  });

  it('Teardown makes the execution fail, and what looks after failed executions does it', async () => {
    const process = startProcess(backstage, { handlers: { Teardown: fails(new Error('broken')) } });

    const run = await process.run(SCRIPT_RUN);

    const closed = await expectRunClosed(backstage, process, run.run_id);
    expect(closed.status).toBe('succeeded');
  });
});

describe('a sandbox that would not stop', () => {
  it('is an event and not a status, and the reaper stops it later', async () => {
    const process = startProcess(backstage, {
      ports: {
        provisioner: {
          ...backstage.provisioner,
          stop: async () => {
            throw new CognitionError('sandbox_unavailable', 'not allowed');
          },
        },
      },
    });

    const run = await process.run(SCRIPT_RUN);

    expect(run.status).toBe('succeeded');
    const items = await allEvents(process, run.run_id);
    expect(items.at(-1)?.type).toBe('sandbox.teardown_failed');
    expect(backstage.sandboxes.alive()).toHaveLength(1);
    backstage.clock.advance(3_600_000);
    expect(await startProcess(backstage).reaper.reap()).toHaveLength(1);
    expect(backstage.sandboxes.alive()).toEqual([]);
  });
});
