/** The tables and one line of docs/operating.md, between `<!-- table: name -->` and `<!-- end -->`. */

import { METRICS } from '../../shared/contracts/metric-names.ts';
import type { Calls } from './calls.ts';
import { ownLatency } from './latency-model.ts';
import { costOf, HOURS_A_MONTH, PRICED_IN, PRICED_ON, PRICES, type PriceName } from './list-prices.ts';
import { priceAtRest, type RestingCost } from './price-at-rest.ts';
import { priceOfRuns, type TaskSize } from './price-of-runs.ts';
import { REQUEST_CALLS, STATE_CALLS } from './standard-run.ts';
import { costOfRounds, costOfVisits, type Rounds, roundsOf } from './standing-work.ts';
import { taskSize } from './task-size.ts';

/** @param templates of all stacks of a deployment with default settings. @returns by the name of the table. */
export function operatingTables(templates: readonly unknown[]): Readonly<Record<string, string>> {
  const size = taskSize(templates);
  return {
    'at rest': atRest(priceAtRest(templates), roundsOf(templates)),
    stored: stored(roundsOf(templates)),
    runs: runs(size),
    pool: pool(size),
    calls: calls(),
    latency: latency(),
    prices: `Public list prices of ${PRICED_IN}, ${PRICED_ON}, without free tiers.`,
  };
}

const dollars = (usd: number): string => (usd < 0.1 ? usd.toFixed(3) : usd.toFixed(2));
const total = (costs: readonly { readonly usd: number }[]): string =>
  dollars(costs.reduce((sum, { usd }) => sum + usd, 0));

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')).replaceAll(' ', ''), ...rows.map(line)].join('\n');
}

function atRest(costs: readonly RestingCost[], rounds: readonly Rounds[]): string {
  const clock: RestingCost = {
    what: `Rounds of ${rounds.map(({ name }) => name).join(', ')}`,
    count: Math.round(rounds.reduce((sum, { a_month }) => sum + a_month, 0)),
    usd: rounds.reduce((sum, one) => sum + costOfRounds(one), 0),
  };
  const all = [...costs, clock].toSorted((a, b) => b.usd - a.usd);
  return table(
    ['What', 'How many', 'USD a month'],
    [
      ...all.map(({ what, count, usd }) => [what, count.toLocaleString('en'), dollars(usd)]),
      ['**Together**', '', `**${total(all)}**`],
    ],
  );
}

const STORED: readonly (readonly [what: string, price: PriceName])[] = [
  ['Rows of the table', 'table_storage'],
  ['Their point-in-time recovery', 'table_backup'],
  ['Packages, artifacts, and their deleted versions', 'object_storage'],
  ['Logs, taken in', 'log_intake'],
  ['Logs, kept (compressed)', 'log_storage'],
  ['The image', 'image_storage'],
];

const stored = (rounds: readonly Rounds[]): string =>
  table(
    ['Stored', 'USD', 'For each'],
    [
      ...STORED.map(([what, name]) => [what, String(PRICES[name].usd), PRICES[name].unit]),
      [
        `Metrics of ours (about ${ownMetrics()}) and of Container Insights, in each hour that has runs`,
        String(PRICES.metrics.usd),
        PRICES.metrics.unit,
      ],
      [
        'What the collector reads in its rounds',
        dollars(1_000 * costOfVisits(rounds)),
        '1,000 packages a month',
      ],
    ],
  );

/** Each name and value of a dimension is one that is paid for; of codes few are ever seen. */
const VALUES_OF_DIMENSION = { backend: 1, outcome: 4, code: 3 } as const;
const ownMetrics = (): number =>
  Object.values(METRICS).reduce(
    (sum, metric) => sum + ('dimension' in metric ? VALUES_OF_DIMENSION[metric.dimension] : 1),
    0,
  );

function runs(size: TaskSize): string {
  const costs = priceOfRuns(size);
  return table(
    ['What', 'One run', 'USD for 1,000'],
    [
      ...costs.map(({ what, amount, usd }) => [what, amount, dollars(usd)]),
      ['**Together**', '', `**${total(costs)}**`],
    ],
  );
}

function pool({ cpu, memory }: TaskSize): string {
  const month = HOURS_A_MONTH * (costOf('sandbox_cpu', cpu) + costOf('sandbox_memory', memory));
  return table(
    ['A sandbox of the default profile', 'USD a month'],
    [[`waiting in the pool all month (${cpu} vCPU, ${memory} GB)`, dollars(month)]],
  );
}

function calls(): string {
  const row = (what: string, one: Calls): string[] => [
    what,
    String(one.table_reads),
    String(one.table_transactions + one.table_writes),
    String(one.read_units),
    String(one.write_units),
    `${one.object_gets} GET, ${one.object_puts} PUT`,
  ];
  return table(
    ['State or call', 'Reads', 'Writes', 'Read units', 'Write units', 'Bucket'],
    [...Object.entries(REQUEST_CALLS), ...Object.entries(STATE_CALLS)].map(([what, one]) => row(what, one)),
  );
}

function latency(): string {
  const states = ownLatency();
  const sum = states.reduce((ms, { work_ms, around_ms }) => ms + work_ms + around_ms, 0);
  return table(
    ['State', 'Work, ms', 'Around it, ms'],
    [
      ...states.map(({ state, work_ms, around_ms }) => [state, String(work_ms), String(around_ms)]),
      ['**Together**', '', `**${sum}**`],
    ],
  );
}

/** The page with each of its tables replaced. @throws Error for a table that is not known, or not in the page. */
export function withTables(page: string, tables: Readonly<Record<string, string>>): string {
  const missing = new Set(Object.keys(tables));
  const next = page.replaceAll(/<!-- table: ([a-z ]+) -->\n[\s\S]*?<!-- end -->/g, (_all, name: string) => {
    const text = tables[name];
    if (text === undefined) throw new Error(`there is no table "${name}"`);
    missing.delete(name);
    return `<!-- table: ${name} -->\n\n${text}\n\n<!-- end -->`;
  });
  if (missing.size > 0) throw new Error(`the page lacks the tables ${[...missing].join(', ')}`);
  return next;
}
