import { describe, expect, it } from 'vitest';
import {
  createInterpretedOrchestrator,
  type InterpretedOrchestratorDeps,
} from '../../shared/adapters/local/interpreted-orchestrator.ts';
import type { RunRef } from '../../shared/contracts/workflow.ts';
import { RUN_MACHINE } from '../support/run-world.ts';

const FINGERPRINT = 'a'.repeat(52);
const STATES = [
  'PinManifest',
  'LaunchSandbox',
  'AwaitSandbox',
  'Materialize',
  'Execute',
  'CollectArtifacts',
  'Finish',
  'Teardown',
];
const refOf = (n: number): RunRef => ({ fingerprint: FINGERPRINT, run_id: String(n).padStart(26, '0') });

function orchestratorOf(
  change: Partial<InterpretedOrchestratorDeps['handlers']> = {},
  beforeEnd: () => Promise<void> = async () => undefined,
  retryScale = 0,
) {
  const calls: { state: string; payload: unknown }[] = [];
  const failed: { run: RunRef; code: string }[] = [];
  const answers: Record<string, unknown> = { AwaitSandbox: { status: 'done' }, Execute: { status: 'done' } };
  const handlers = Object.fromEntries(
    [...STATES, 'RecordFailure'].map((state) => [
      state,
      async (payload: unknown) => {
        calls.push({ state, payload });
        return (await change[state]?.(payload)) ?? answers[state];
      },
    ]),
  );
  const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const orchestrator = createInterpretedOrchestrator({
    definition: RUN_MACHINE,
    handlers,
    onFailedExecution: async (run, { code }) => {
      await beforeEnd();
      failed.push({ run, code });
    },
    logger: quiet,
    retryScale,
  });
  return { orchestrator, calls, failed };
}

describe('an execution', () => {
  it('gives every state the ids and at most a progress word, in order', async () => {
    const { orchestrator, calls } = orchestratorOf();

    await orchestrator.start(refOf(1));
    await orchestrator.idle();

    expect(calls.map(({ state }) => state)).toEqual(STATES);
    const progress = { status: 'done' };
    expect(calls.map(({ payload }) => payload)).toEqual([
      ...Array.from({ length: 3 }, () => refOf(1)),
      ...Array.from({ length: 5 }, () => ({ ...refOf(1), progress })),
    ]);
  });

  it('is started once for a run while it is under way', async () => {
    const { orchestrator, calls } = orchestratorOf();

    await Promise.all([1, 2, 3].map(() => orchestrator.start(refOf(1))));
    await orchestrator.idle();

    expect(calls).toHaveLength(STATES.length);
  });

  it('asks AwaitSandbox and Execute again while they say pending', async () => {
    let asked = 0;
    const { orchestrator, calls } = orchestratorOf({
      Execute: async () => {
        asked += 1;
        return { status: asked < 4 ? 'pending' : 'done' };
      },
    });

    await orchestrator.start(refOf(1));
    await orchestrator.idle();

    expect(calls.filter(({ state }) => state === 'Execute')).toHaveLength(4);
    expect(calls.at(-1)?.state).toBe('Teardown');
  });

  it('gives RecordFailure the error’s name and Lambda’s JSON', async () => {
    const { orchestrator, calls } = orchestratorOf({
      Materialize: async () => {
        throw Object.assign(new Error('the package is gone'), { name: 'package_unavailable' });
      },
    });

    await orchestrator.start(refOf(1));
    await orchestrator.idle();

    const caught = calls.find(({ state }) => state === 'RecordFailure')?.payload as {
      error: { Error: string; Cause: string };
    };
    expect(caught).toMatchObject({ ...refOf(1), error: { Error: 'package_unavailable' } });
    expect(JSON.parse(caught.error.Cause)).toMatchObject({
      errorType: 'package_unavailable',
      errorMessage: 'the package is gone',
    });
    expect(calls.map(({ state }) => state).slice(-2)).toEqual(['RecordFailure', 'Teardown']);
  });

  it('that fails as a whole is handed to what ends runs outside the machine', async () => {
    const broken = async () => {
      throw new Error('broken');
    };
    const { orchestrator, failed } = orchestratorOf({ Teardown: broken });

    await orchestrator.start(refOf(1));
    await orchestrator.idle();

    expect(failed).toEqual([{ run: refOf(1), code: 'internal_error' }]);
  });

  it('that nothing can end at once is ended as soon as something can, under the code that stopped it', async () => {
    const full = async () => {
      throw Object.assign(new Error('no space left'), { name: 'storage_full' });
    };
    let attempts = 0;
    const { orchestrator, failed } = orchestratorOf(
      { Finish: full, RecordFailure: full, Teardown: full },
      async () => {
        attempts += 1;
        if (attempts < 4) await full();
      },
    );

    await orchestrator.start(refOf(1));
    await orchestrator.idle();

    expect(attempts).toBe(4);
    expect(failed).toEqual([{ run: refOf(1), code: 'storage_full' }]);
  });

  it('that nothing can end keeps no process from closing', async () => {
    const broken = async () => {
      throw new Error('broken');
    };
    const { orchestrator } = orchestratorOf({ Teardown: broken }, broken, 1);
    await orchestrator.start(refOf(1));
    await new Promise((resolve) => setTimeout(resolve, 50));

    await orchestrator.close(0);

    expect(orchestrator.active).toBe(0);
  });
});

describe('a process that ends and starts', () => {
  it('resumes every run it is given', async () => {
    const { orchestrator, calls } = orchestratorOf();

    const resumed = await orchestrator.resumeAll([refOf(1), refOf(2), refOf(2)]);
    await orchestrator.idle();

    expect(resumed).toBe(3);
    expect(calls.filter(({ state }) => state === 'PinManifest')).toHaveLength(2);
  });

  it('leaves what is under way as it is after its grace, and takes nothing new', async () => {
    const { promise, resolve } = Promise.withResolvers<{ status: string }>();
    const { orchestrator, calls, failed } = orchestratorOf({ Execute: () => promise });
    await orchestrator.start(refOf(1));

    await orchestrator.close(10);
    await orchestrator.start(refOf(2));
    resolve({ status: 'done' });
    await new Promise(setImmediate);

    expect(orchestrator.active).toBe(0);
    expect(failed).toEqual([]);
    expect(calls.map(({ state }) => state)).toEqual(STATES.slice(0, 5));
  });

  it('waits for what ends within its grace', async () => {
    const { orchestrator, calls } = orchestratorOf();
    await orchestrator.start(refOf(1));

    await orchestrator.close(5_000);

    expect(calls.at(-1)?.state).toBe('Teardown');
  });
});

describe('a thousand runs', () => {
  it('all end, and none of them is kept', async () => {
    const { orchestrator, calls } = orchestratorOf();

    await orchestrator.resumeAll(Array.from({ length: 1_000 }, (_, n) => refOf(n)));
    await orchestrator.idle();

    expect(calls).toHaveLength(1_000 * STATES.length);
    expect(orchestrator.active).toBe(0);
  });
});
