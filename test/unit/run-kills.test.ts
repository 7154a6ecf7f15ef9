import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRunSchema } from '../../shared/contracts/run.ts';
import { KEYS } from '../../shared/domain/row-keys.ts';
import type { FakeScript } from '../support/fake-sandbox.ts';
import { Fate, type Moment, mortal } from '../support/mortal-ports.ts';
import { expectRunClosed } from '../support/run-invariants.ts';
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

const REQUEST = createRunSchema.parse({ ...SCRIPT_RUN, stdin: 'text' });
const MOMENTS: readonly Moment[] = ['before', 'after'];

const SCRIPT: FakeScript = {
  stdout: 'out\n',
  stderr: 'err\n',
  duration: 2_500,
  outputs: { 'a.txt': 'a', 'b.txt': 'b' },
  refused: [{ path: 'link', reason: 'a symbolic link' }],
};

async function world(script: FakeScript = SCRIPT): Promise<Backstage> {
  const backstage = createBackstage();
  await publishSkill(backstage);
  await putAgent(backstage);
  backstage.sandboxes.script = script;
  return backstage;
}

interface Case {
  readonly kind: 'death' | 'fault';
  readonly moment: Moment;
  readonly pooled: boolean;
  readonly script?: FakeScript;
  /** Done between POST and the machine. */
  readonly prepare?: (process: TestProcess, backstage: Backstage, runId: string) => Promise<unknown>;
}

/** The run is queued by a process that lives, then meets its fate at the nth call of the machine. */
async function runTo(at: number, { kind, moment, pooled, script, prepare }: Case) {
  const backstage = await world(script);
  const first = startProcess(backstage, { orchestrator: 'none', poolSize: pooled ? 1 : 0 });
  await first.pool.fill();
  const { run_id } = await first.runs.create(FINGERPRINT, REQUEST);
  await prepare?.(first, backstage, run_id);
  const fate = new Fate(kind, at, moment);
  const doomed = startProcess(backstage, { ports: mortal(backstage, fate) });
  await doomed.resume().catch((error: unknown) => {
    if (!fate.dead) throw error;
  });
  await doomed.orchestrator.idle();
  return { backstage, run_id, fate };
}

async function everyCall(test: (at: number) => Promise<Fate>): Promise<number> {
  for (let at = 1; ; at += 1) {
    const fate = await test(at).catch((error: unknown) => {
      throw new Error(`call ${at}`, { cause: error });
    });
    if (fate.calls < at) return at - 1;
  }
}

describe('a process killed at any call of the machine and started again', () => {
  for (const pooled of [false, true]) {
    for (const moment of MOMENTS) {
      it(`ends the run well when it dies ${moment} the call and the ${pooled ? 'pooled' : 'new'} sandbox lives on`, async () => {
        const calls = await everyCall(async (at) => {
          const { backstage, run_id, fate } = await runTo(at, { kind: 'death', moment, pooled });
          const again = startProcess(backstage);

          await again.resume();

          const run = await expectRunClosed(backstage, again, run_id);
          expect(run.status, fate.names.at(-1)).toBe('succeeded');
          expect(run).toMatchObject({ stdout: 'out\n', stderr: 'err\n', artifact_count: 2, exit_code: 0 });
          const references = await backstage.table.query(KEYS.runParts(FINGERPRINT, run_id), {
            prefix: 'manifest',
          });
          expect(references.rows).toHaveLength(1);
          return fate;
        });
        expect(calls).toBeGreaterThan(20);
      });
    }

    it(`ends the run with a clear code when the ${pooled ? 'pooled' : 'new'} sandbox dies with it`, async () => {
      const seen = new Set<string>();
      await everyCall(async (at) => {
        const { backstage, run_id, fate } = await runTo(at, { kind: 'death', moment: 'after', pooled });
        backstage.sandboxes.loseAll();
        backstage.clock.advance(11_000);
        const again = startProcess(backstage);

        await again.resume();

        const run = await expectRunClosed(backstage, again, run_id);
        seen.add(`${run.status} ${run.failure?.code ?? ''}`);
        return fate;
      });
      expect([...seen].sort()).toEqual(['failed run_interrupted', 'succeeded ']);
    });
  }
});

describe('a fault that passes', () => {
  for (const pooled of [false, true]) {
    for (const moment of MOMENTS) {
      it(`${moment} any one call with a ${pooled ? 'pooled' : 'new'} sandbox does not fail the run, nor start its command twice`, async () => {
        await everyCall(async (at) => {
          const { backstage, run_id, fate } = await runTo(at, { kind: 'fault', moment, pooled });

          const run = await expectRunClosed(backstage, startProcess(backstage), run_id);
          expect(run.status, fate.names[at - 1]).toBe('succeeded');
          return fate;
        });
      });
    }
  }
});

describe('a process killed at any call of a run that does not go well', () => {
  const endings: readonly (Pick<Case, 'script' | 'prepare'> & {
    name: string;
    code: string;
    status: string;
  })[] = [
    {
      name: 'its script fails',
      script: { ...SCRIPT, exit_code: 3 },
      status: 'failed',
      code: 'script_failed',
    },
    {
      name: 'its script takes too long',
      script: { ...SCRIPT, duration: 90_000 },
      status: 'timed_out',
      code: 'run_timed_out',
    },
    {
      name: 'it is cancelled',
      prepare: (process, _backstage, runId) => process.runs.cancel(FINGERPRINT, runId),
      status: 'cancelled',
      code: 'run_cancelled',
    },
    {
      name: 'its package is gone',
      prepare: async (_process, backstage) => {
        backstage.packages.fetch = async () => undefined;
      },
      status: 'failed',
      code: 'package_unavailable',
    },
  ];
  for (const { name, status, code, ...ending } of endings) {
    it(`still ends it as ${status} because ${name}`, async () => {
      for (const moment of MOMENTS) {
        await everyCall(async (at) => {
          const fated = await runTo(at, { kind: 'death', moment, pooled: false, ...ending });
          const again = startProcess(fated.backstage);

          await again.resume();

          const run = await expectRunClosed(fated.backstage, again, fated.run_id);
          expect([run.status, run.failure?.code], fated.fate.names.at(-1)).toEqual([status, code]);
          return fated.fate;
        });
      }
    });
  }

  it('ends a run that two processes died over, at any two calls', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(25), fc.nat(25), fc.constantFrom(...MOMENTS), async (one, two, moment) => {
        const { backstage, run_id } = await runTo(one + 1, { kind: 'death', moment, pooled: false });
        const fate = new Fate('death', two + 1, moment);
        const second = startProcess(backstage, { ports: mortal(backstage, fate) });
        await second.resume().catch(() => undefined);
        await second.orchestrator.idle();
        const third = startProcess(backstage);

        await third.resume();

        const run = await expectRunClosed(backstage, third, run_id);
        expect(run).toMatchObject({ status: 'succeeded', stdout: 'out\n', artifact_count: 2 });
      }),
      { numRuns: 150 },
    );
  });
});

describe('a process killed at any call of POST /runs', () => {
  it('leaves no run, or one that the sweeper starts', async () => {
    const outcomes = new Set<string>();
    for (const moment of MOMENTS) {
      await everyCall(async (at) => {
        const backstage = await world();
        const fate = new Fate('death', at, moment);
        const doomed = startProcess(backstage, { ports: mortal(backstage, fate), orchestrator: 'none' });
        await doomed.runs.create(FINGERPRINT, REQUEST).catch(() => undefined);
        const again = startProcess(backstage);
        backstage.clock.advance(11_000);

        const swept = await again.sweeper.sweep();

        await again.orchestrator.idle();
        const { items } = await again.runs.list(FINGERPRINT, { limit: 10 });
        expect(swept.started).toBe(items.length);
        for (const { run_id } of items) {
          expect((await expectRunClosed(backstage, again, run_id)).status).toBe('succeeded');
        }
        expect((await backstage.table.query(KEYS.slots(FINGERPRINT))).rows).toEqual([]);
        outcomes.add(`${items.length} run`);
        return fate;
      });
    }
    expect([...outcomes].sort()).toEqual(['0 run', '1 run']);
  });
});
