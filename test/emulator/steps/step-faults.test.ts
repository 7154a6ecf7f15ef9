/** A function that fails in every state of the machine: by a fault that passes, by its process's death, by a bug. */
import type { HistoryEvent } from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { FUNCTIONS } from '../../../infra/functions/function-table.ts';
import { scopeFingerprint } from '../../../shared/domain/scope.ts';
import type { Answer, Api } from '../../support/api.ts';
import { scopeWithSkill, scriptRun } from '../../support/run-scope.ts';
import { deployed } from '../support/deployed.ts';
import type { FunctionFault } from '../support/fault-rules.ts';
import { bundleOf, faultyCode } from '../support/faulty-code.ts';
import { expectRunsClosed } from '../support/run-closed.ts';

const cognition = deployed();
const { functions, faults } = cognition;
const { bundles, proxy } = cognition.facts;
const STEPS = FUNCTIONS.filter(({ kind }) => kind === 'step').map(({ name }) => name);
/** Of a run that goes well. */
const HAPPY = STEPS.filter((name) => name !== 'record-failure');
const SCRIPTS = { 'scripts/x.sh': 'echo once; echo once > /outputs/once' };
const hasErrorNames = inject('deployment').capabilities.error_names;

beforeAll(async () => {
  for (const name of STEPS) await functions.setCode(name, faultyCode(name, bundles, proxy));
});
afterAll(async () => {
  for (const name of STEPS) await functions.setCode(name, bundleOf(name, bundles));
});

/** As the machine calls it. */
const stateOf = (name: string): string =>
  name.replace(/(^|-)([a-z])/g, (_, __, letter: string) => letter.toUpperCase());

/** A state once for each attempt that failed. */
function failedStates(history: readonly HistoryEvent[]): string[] {
  let state = '';
  const failed: string[] = [];
  for (const { type, stateEnteredEventDetails } of history) {
    if (type === 'TaskStateEntered') state = stateEnteredEventDetails?.name ?? '';
    if (type === 'TaskFailed') failed.push(state);
  }
  return failed.toSorted();
}

async function runOnce(api: Api): Promise<string> {
  const started = await api.post('/runs', scriptRun('scripts/x.sh'));
  expect(started.status).toBe(202);
  return started.json.run_id;
}

type FunctionFaults = readonly Omit<FunctionFault, 'fingerprint'>[];

/** Runs end while these go wrong for them, and for nobody else. @returns the runs. */
async function whileFaulty(
  api: Api,
  functionFaults: FunctionFaults,
  start: () => Promise<string[]>,
): Promise<Answer[]> {
  const fingerprint = scopeFingerprint(api.scope);
  const wanted = functionFaults.map((fault) => ({ ...fault, fingerprint }));
  const { result } = await faults.while({ functions: wanted }, async () =>
    expectRunsClosed(cognition, api, await start()),
  );
  return result;
}

describe
  .skipIf(!hasErrorNames)
  .concurrent('every state fails once, and the run succeeds, and nothing happens twice', () => {
    it.each([
      ['with an error that passes, before its work', 'transient_before'],
      ['with an error that passes, after its work', 'transient_after'],
      ['because its process dies before its work', 'exit_before'],
      ['because its process dies after its work, with the answer', 'exit_after'],
    ] as const)('%s', async (_, action) => {
      const api = await scopeWithSkill(SCRIPTS, cognition.api());

      const [ended] = await whileFaulty(
        api,
        HAPPY.map((name) => ({ function: name, action })),
        async () => [await runOnce(api)],
      );

      expect(ended?.json).toMatchObject({ status: 'succeeded', stdout: 'once\n', failure: null });
      const id = ended?.json.run_id;
      const { items } = (await api.get(`/runs/${id}/artifacts`)).json;
      expect(items).toMatchObject([{ path: 'once', size_bytes: 5 }]);
      expect(failedStates(await cognition.history(id))).toEqual(HAPPY.map(stateOf).toSorted());
    });
  });

describe.concurrent('a state with a bug', () => {
  const states = HAPPY.filter((name) => name !== 'teardown');

  it.each(['throw_before', 'throw_after'] as const)(
    'whichever it is (%s): the run fails with a code and without a word of the bug, and its task is stopped',
    async (action) => {
      const api = await scopeWithSkill(SCRIPTS, cognition.api());

      // As many runs as faults: each fault ends the one that meets it.
      const ended = await whileFaulty(
        api,
        states.map((name) => ({ function: name, action })),
        () => Promise.all(states.map(() => runOnce(api))),
      );

      for (const { json } of ended.filter(({ json }) => json.status === 'failed')) {
        expect(json.failure.code).toBe('internal_error');
        expect(json.failure.message).not.toContain('thrown by the test');
      }
      // What Finish has recorded stands, whatever becomes of its answer.
      const recorded = action === 'throw_after' ? ['succeeded'] : [];
      expect(ended.map(({ json }) => json.status).toSorted()).toEqual([
        ...states.slice(recorded.length).map(() => 'failed'),
        ...recorded,
      ]);
    },
  );

  it('RecordFailure, for good: the end of the execution ends the run', async () => {
    const api = await scopeWithSkill(SCRIPTS, cognition.api());

    const [ended] = await whileFaulty(
      api,
      [
        { function: 'materialize', action: 'throw_before' },
        { function: 'record-failure', action: 'throw_before', times: 20 },
      ],
      async () => [await runOnce(api)],
    );

    expect(ended?.json).toMatchObject({ status: 'failed', failure: { code: 'internal_error' } });
    expect(await cognition.executionStatus(ended?.json.run_id)).toBe('FAILED');
  });

  it('Teardown, for good: the run has its result, and what looks after ended executions stops the task', async () => {
    const api = await scopeWithSkill(SCRIPTS, cognition.api());

    const [ended] = await whileFaulty(
      api,
      [{ function: 'teardown', action: 'throw_before', times: 20 }],
      async () => [await runOnce(api)],
    );

    expect(ended?.json).toMatchObject({ status: 'succeeded', stdout: 'once\n' });
    expect(await cognition.executionStatus(ended?.json.run_id)).toBe('FAILED');
  });
});

describe('a step that runs again after the run has ended', () => {
  it('changes no row, no event and no object, whichever it is', async () => {
    const api = await scopeWithSkill(SCRIPTS, cognition.api());
    const id = await runOnce(api);
    await expectRunsClosed(cognition, api, [id]);
    const fingerprint = scopeFingerprint(api.scope);
    const stored = async () => ({
      rows: (await cognition.rows()).filter(({ pk }) => pk.includes(fingerprint)),
      objects: await cognition.objects(cognition.facts.artifacts_bucket),
      events: (await api.get(`/runs/${id}/events?limit=200`)).json,
    });
    const before = await stored();

    for (const name of STEPS) {
      // It may refuse, as long as it changes nothing.
      await functions.invoke(name, { fingerprint, run_id: id }).catch(() => undefined);

      expect(await stored(), name).toEqual(before);
    }
  });
});
