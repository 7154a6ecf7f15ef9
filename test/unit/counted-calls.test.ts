/** What a run asks of table and objects, stated as numbers: whoever makes a run ask for more has to change them here. */
import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { addCalls, type Calls } from '../../infra/price/calls.ts';
import {
  CALLS_WITHOUT_WAITING,
  PUBLISHING_CALLS,
  REQUEST_CALLS,
  STATE_CALLS,
  TRANSITIONS,
} from '../../infra/price/standard-run.ts';
import { PACKAGE_VISIT, ROUND_CALLS } from '../../infra/price/standing-work.ts';
import { createMaintenanceLeases } from '../../shared/services/maintenance-leases.ts';
import { createPoolKeeper } from '../../shared/services/pool-keeper.ts';
import { createResumedCollector } from '../../shared/services/resumed-collector.ts';
import { CallMeter } from '../support/call-meter.ts';
import { collectorOf } from '../support/collector-world.ts';
import { createBackstage, publishSkill, startProcess } from '../support/run-world.ts';
import { type CountedRun, countStandardRun } from '../support/standard-run.ts';

let s3: CountedRun;
let rows: CountedRun;
let quick: CountedRun;
beforeAll(async () => {
  s3 = await countStandardRun('s3');
  rows = await countStandardRun('config_registry');
  quick = await countStandardRun('s3', { launch_seconds: 0, command_seconds: 0 });
});

const STATED = { ...STATE_CALLS, ...REQUEST_CALLS, ...PUBLISHING_CALLS };
const sum = (counted: CountedRun, of: Readonly<Record<string, Calls>>): Calls =>
  addCalls(...Object.keys(of).map((section) => counted.sections.get(section) ?? raise(section)));

describe('a standard run, from POST to the bytes of its output', () => {
  it('succeeds', () => {
    expect([s3.run.status, rows.run.status]).toEqual(['succeeded', 'succeeded']);
  });

  it.each(Object.keys(STATED))('asks no more than is stated: %s', (section) => {
    expect(s3.sections.get(section)).toEqual(STATED[section]);
  });

  it.each(Object.keys(STATE_CALLS))('without its waits asks no more than is stated: %s', async (state) => {
    expect(quick.sections.get(state)).toEqual({ ...STATE_CALLS, ...CALLS_WITHOUT_WAITING }[state]);
  });

  it('has no part that is not stated', () => {
    expect([...s3.sections.keys()].toSorted()).toEqual(Object.keys(STATED).toSorted());
  });

  it('enters at most 12 states', () => {
    expect(s3.transitions).toBe(TRANSITIONS);
    expect(TRANSITIONS).toBeLessThanOrEqual(12);
  });

  it('reads its package three times and stores one object an output', () => {
    expect(sum(s3, { ...STATE_CALLS, createRun: STATED.createRun ?? raise('createRun') })).toMatchObject({
      object_gets: 3,
      object_puts: 1,
    });
  });

  it('with packages in the table asks the bucket for its output alone', () => {
    expect(sum(rows, STATE_CALLS)).toMatchObject({ object_gets: 0, object_puts: 1 });
    expect(sum(rows, STATE_CALLS).write_units).toBe(sum(s3, STATE_CALLS).write_units);
  });
});

describe('work by the clock', () => {
  it('asks no more than is stated when there is nothing to do, and of each package once', async () => {
    const counted = await countRounds();

    expect(Object.fromEntries(counted.idle)).toEqual(ROUND_CALLS);
    expect(counted.visit).toEqual(PACKAGE_VISIT);
  });
});

describe('no scan', () => {
  it.each(sources('shared').concat(sources('functions')))('%s', (file) => {
    expect(readFileSync(file, 'utf8')).not.toMatch(
      /\b(Scan|BatchExecuteStatement|ExecuteStatement)(Command)?\b/,
    );
  });
});

/** Of a pool that has its one sandbox already. */
async function countPoolRound(meter: CallMeter): Promise<void> {
  const world = createBackstage();
  const table = meter.table(world.table);
  const { clock } = world;
  const { pool } = startProcess(world, {
    ports: { table, provisioner: meter.provisioner(world.provisioner) },
    poolSize: 1,
  });
  const keeper = createPoolKeeper({ pool, clock, leases: createMaintenanceLeases({ table, clock }) });
  meter.begin('filling of an empty pool');
  await keeper.keep();
  meter.sections.delete('filling of an empty pool');
  meter.begin('pool');
  await keeper.keep();
}

/** Rounds of an empty deployment, and what one package adds to a round of the collector. */
async function countRounds(): Promise<{ idle: ReadonlyMap<string, Calls>; visit: Calls }> {
  const meter = new CallMeter();
  const world = createBackstage();
  const table = meter.table(world.table);
  const { sweeper, reaper } = startProcess(world, {
    ports: { table, provisioner: meter.provisioner(world.provisioner) },
  });
  const collector = createResumedCollector({ table, collector: collectorOf({ ...world, table }) });
  meter.begin('sweeper');
  await sweeper.sweep();
  meter.begin('reaper');
  await reaper.reap();
  meter.begin('gc');
  await collector.collect(Number.POSITIVE_INFINITY);
  await countPoolRound(meter);
  const idle = new Map(meter.sections);
  await publishSkill(world);
  meter.begin('gc with a package');
  await collector.collect(Number.POSITIVE_INFINITY);
  const empty = idle.get('gc') ?? raise('gc');
  const one = meter.sections.get('gc with a package') ?? raise('gc with a package');
  const added = Object.entries(one).map(([name, count]) => [name, count - empty[name as keyof Calls]]);
  return { idle, visit: Object.fromEntries(added) };
}

function sources(folder: string): string[] {
  const root = new URL(`../../${folder}/`, import.meta.url).pathname;
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && /adapters|runtime|maintenance/.test(`${folder}/${path}`))
    .map((path) => `${root}${path}`);
}

function raise(section: string): never {
  throw new Error(`nothing was counted for ${section}`);
}
