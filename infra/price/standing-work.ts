/** What works by the clock, whether anybody uses the deployment or not: the rules of the templates, and each round. */
import * as z from 'zod';
import { functionSpec } from '../functions/function-table.ts';
import { type Calls, NO_CALLS } from './calls.ts';
import { ASSUMED_MS } from './latency-model.ts';
import { costOf, HOURS_A_MONTH } from './list-prices.ts';
import { type PricedResource, resourcesOf } from './template.ts';

/** By the function's name, of a round that finds nothing to do. Held by test/unit/counted-calls.test.ts. */
export const ROUND_CALLS: Readonly<Record<string, Calls>> = {
  sweeper: { ...NO_CALLS, table_reads: 8, read_units: 8 },
  reaper: { ...NO_CALLS, ecs_calls: 1 },
  gc: { ...NO_CALLS, table_reads: 17, read_units: 17 },
  /** Of a pool that has what it wants, and of one profile. */
  pool: {
    ...NO_CALLS,
    table_reads: 2,
    read_units: 2,
    table_writes: 1,
    table_transactions: 1,
    write_units: 3,
    ecs_calls: 1,
  },
};
/** Of the collector, for each package that is stored and needed. */
export const PACKAGE_VISIT: Calls = { ...NO_CALLS, table_reads: 1, read_units: 1 };

/** Lines of Lambda and our own. */
const LOG_BYTES_OF_ROUND = 900;
const START_OF_ROUND_MS = 30;

export interface Rounds {
  readonly name: string;
  readonly a_month: number;
}

/** The functions that rules call at a fixed rate. @throws Error for a schedule in another form. */
export function roundsOf(templates: readonly unknown[]): Rounds[] {
  const resources = resourcesOf(templates);
  return resources
    .filter(({ type, properties }) => type === 'AWS::Events::Rule' && 'ScheduleExpression' in properties)
    .map(({ properties }) => ({
      name: calledFunction(resources, properties.Targets),
      a_month: (HOURS_A_MONTH * 60) / minutesOf(properties.ScheduleExpression),
    }));
}

function minutesOf(schedule: unknown): number {
  const [, number, unit] = /^rate\((\d+) (minute|hour)s?\)$/.exec(z.string().parse(schedule)) ?? [];
  if (number === undefined) throw new Error(`not a rate: ${JSON.stringify(schedule)}`);
  return Number(number) * (unit === 'hour' ? 60 : 1);
}

const targetsSchema = z.tuple([
  z.object({ Arn: z.object({ 'Fn::GetAtt': z.tuple([z.string(), z.string()]) }) }),
]);

function calledFunction(resources: readonly PricedResource[], targets: unknown): string {
  const [{ Arn }] = targetsSchema.parse(targets);
  const [logicalId] = Arn['Fn::GetAtt'];
  const called = resources.find(({ id, type }) => id === logicalId && type === 'AWS::Lambda::Function');
  const name = z.string().parse(called?.properties.FunctionName);
  const spec = Object.keys(ROUND_CALLS).find((known) => name.endsWith(`-${known}`));
  if (spec === undefined)
    throw new Error(`what does a round of ${name} ask? infra/price/standing-work.ts does not know`);
  return spec;
}

/** US dollars a month, of rounds that find nothing to do. */
export function costOfRounds({ name, a_month }: Rounds): number {
  const calls = ROUND_CALLS[name] ?? NO_CALLS;
  const ms =
    START_OF_ROUND_MS + calls.table_reads * ASSUMED_MS.table_read + calls.ecs_calls * ASSUMED_MS.ecs_call;
  return a_month * (costOfCall(name, ms, calls) + costOf('log_intake', LOG_BYTES_OF_ROUND / 1e9));
}

/** US dollars a month, of visiting one more package in each round of the collector. */
export const costOfVisits = (rounds: readonly Rounds[]): number =>
  rounds
    .filter(({ name }) => name === 'gc')
    .reduce((usd, { a_month }) => {
      const ms = PACKAGE_VISIT.table_reads * ASSUMED_MS.table_read;
      const visit = costOf('table_read_units', PACKAGE_VISIT.read_units) + costOfTime('gc', ms);
      return usd + a_month * visit;
    }, 0);

const costOfTime = (name: string, ms: number): number =>
  costOf('function_time', (functionSpec(name).memory_mb / 1_024) * (ms / 1_000));

const costOfCall = (name: string, ms: number, calls: Calls): number =>
  costOf('function_requests', 1) +
  costOfTime(name, ms) +
  costOf('table_read_units', calls.read_units) +
  costOf('table_write_units', calls.write_units);
