/** What a run costs, counted on the wire: calls of each service, states of the machine, and time that is our own. */
import type { HistoryEvent } from '@aws-sdk/client-sfn';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { Api } from '../../support/api.ts';
import { scopeWithSkill, scriptRun } from '../../support/run-scope.ts';
import { deployed } from '../support/deployed.ts';
import type { SeenCall } from '../support/fault-rules.ts';

const cognition = deployed();
const SCRIPTS = { 'scripts/x.sh': 'echo hello; echo hello > /outputs/hello' };
/** Run by schedules, at any time, for whatever there is. */
const SCHEDULED: readonly string[] = ['sweeper', 'reaper', 'gc', 'pool'];

const TABLE_CALLS: readonly string[] = ['GetItem', 'Query', 'PutItem', 'DeleteItem', 'TransactWriteItems'];

type Counts = Readonly<Record<string, number>>;

const counted = (calls: readonly SeenCall[]): Counts => {
  const counts: Record<string, number> = {};
  for (const call of calls) {
    if (SCHEDULED.includes(call.function)) continue;
    const name = `${call.function} ${call.operation}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
};

/** Nothing asks the API meanwhile, so that only the run itself is counted. */
async function run(api: Api): Promise<string> {
  const started = await api.post('/runs', scriptRun('scripts/x.sh'));
  expect(started.status).toBe(202);
  const id = started.json.run_id;
  await vi.waitUntil(async () => (await cognition.executionStatus(id)) === 'SUCCEEDED', {
    timeout: 60_000,
    interval: 50,
  });
  return id;
}

const states = (history: readonly HistoryEvent[]): string[] =>
  history.flatMap(({ stateEnteredEventDetails }) => stateEnteredEventDetails?.name ?? []);

/**
 * A run with one skill and one output, from POST to its teardown, when every process has read the package's index
 * before. docs/operating.md prices it; more is a change to be seen here. AwaitSandbox asks as often as the sandbox
 * takes, which is once at best.
 */
const RUN: Counts = {
  'runs GetItem': 3,
  'runs TransactWriteItems': 1,
  'runs StartExecution': 1,
  'pin-manifest GetItem': 10,
  'pin-manifest TransactWriteItems': 1,
  'launch-sandbox GetItem': 8,
  'launch-sandbox Query': 1,
  'launch-sandbox TransactWriteItems': 2,
  'launch-sandbox RunTask': 1,
  'materialize GetItem': 5,
  'materialize GetObject': 1,
  'materialize TransactWriteItems': 1,
  'execute GetItem': 8,
  'execute TransactWriteItems': 1,
  'collect-artifacts GetItem': 6,
  'collect-artifacts Query': 1,
  'collect-artifacts PutObject': 1,
  'collect-artifacts TransactWriteItems': 1,
  'finish GetItem': 3,
  'finish Query': 2,
  'finish TransactWriteItems': 1,
  'teardown DeleteItem': 1,
  'teardown GetItem': 5,
  'teardown StopTask': 1,
  'teardown TransactWriteItems': 1,
};
/** One of them is AwaitSandbox's. */
const TRANSACTIONS = 10;
const isWaiting = (name: string): boolean => name.startsWith('await-sandbox ');

describe('a run that goes well', () => {
  let api: Api;
  let runs: { readonly id: string; readonly calls: readonly SeenCall[] }[];
  beforeAll(async () => {
    api = await scopeWithSkill(SCRIPTS, cognition.api());
    runs = [];
    for (let at = 0; at < 4; at += 1) {
      const { result: id, calls } = await cognition.faults.during(() => run(api));
      runs.push({ id, calls });
    }
  });

  it('asks the table and the stores no more often than is stated', () => {
    const last = counted(runs.at(-1)?.calls ?? []);

    const more = Object.entries(last).filter(([name, count]) => !isWaiting(name) && count > (RUN[name] ?? 0));
    expect(Object.fromEntries(more)).toEqual({});
    const transactions = Object.entries(last).filter(([name]) => name.endsWith('TransactWriteItems'));
    expect(transactions.reduce((sum, [, count]) => sum + count, 0)).toBe(TRANSACTIONS);
  });

  it('reads nothing by a scan, and neither does any other call that functions have made', async () => {
    const all = await cognition.faults.seen();

    const operations = new Set(
      all.filter(({ service }) => service === 'dynamodb').map((call) => call.operation),
    );
    expect([...operations].filter((operation) => !TABLE_CALLS.includes(operation))).toEqual([]);
  });

  it('enters at most 12 states, apart from waiting', async () => {
    const entered = states(await cognition.history(runs.at(-1)?.id ?? ''));

    expect(new Set(entered).size).toBe(10);
    expect(entered.length).toBeLessThanOrEqual(12);
  });
});
