/**
 * The run that the prices in docs/operating.md are about, and what it asks of table, objects and ECS. The numbers are
 * measured over the real handlers by test/unit/counted-calls.test.ts, which fails when one of them changes.
 */
import type { Calls } from './calls.ts';

/** The size of the package is the median of public skills. */
export const STANDARD_RUN = {
  skill_bytes: 9_000,
  stdin_bytes: 4_096,
  stdout_bytes: 1_024,
  output_bytes: 2_048,
  /** From RunTask until the daemon answers. */
  launch_seconds: 35,
  command_seconds: 5,
} as const;

type Row = readonly [
  reads: number,
  writes: number,
  transactions: number,
  read_units: number,
  write_units: number,
  object_puts: number,
  object_gets: number,
  ecs: number,
];

const row = ([
  table_reads,
  table_writes,
  table_transactions,
  read_units,
  write_units,
  object_puts,
  object_gets,
  ecs_calls,
]: Row): Calls => ({
  table_reads,
  table_writes,
  table_transactions,
  read_units,
  write_units,
  object_puts,
  object_gets,
  ecs_calls,
});

/** By the state of the machine, bounded as in a function. */
export const STATE_CALLS: Readonly<Record<string, Calls>> = {
  PinManifest: row([10, 0, 1, 11, 10, 0, 1, 0]),
  LaunchSandbox: row([9, 0, 2, 9, 12, 0, 0, 1]),
  AwaitSandbox: row([56, 0, 1, 56, 6, 0, 0, 27]),
  Materialize: row([5, 0, 1, 5, 6, 0, 1, 0]),
  Execute: row([17, 0, 2, 18, 16, 0, 0, 0]),
  CollectArtifacts: row([7, 0, 1, 7, 6, 1, 0, 0]),
  Finish: row([5, 0, 1, 6, 18, 0, 0, 0]),
  Teardown: row([5, 1, 1, 5, 9, 0, 0, 1]),
};

/** Of the states that wait: what is left when sandbox and command are there at once. */
export const CALLS_WITHOUT_WAITING: Readonly<Record<string, Calls>> = {
  AwaitSandbox: row([4, 0, 1, 4, 6, 0, 0, 1]),
  Execute: row([7, 0, 1, 8, 14, 0, 0, 0]),
};

/** By the operation of the API, caches cold. */
export const REQUEST_CALLS: Readonly<Record<string, Calls>> = {
  createRun: row([4, 0, 1, 4, 22, 0, 1, 0]),
  /** A long poll of 20 seconds that nothing comes of. */
  'listRunEvents, in vain': row([111, 0, 0, 111, 0, 0, 0, 0]),
  listRunEvents: row([2, 0, 0, 3, 0, 0, 0, 0]),
  getRun: row([2, 0, 0, 2, 0, 0, 0, 0]),
  getRunArtifacts: row([2, 0, 0, 2, 0, 0, 0, 0]),
  'getRunArtifacts, bytes': row([2, 0, 0, 2, 0, 0, 1, 0]),
};

/** What comes before a run: once for each revision and each agent. */
export const PUBLISHING_CALLS: Readonly<Record<string, Calls>> = {
  putSkill: row([2, 0, 2, 2, 12, 1, 0, 0]),
  putAgent: row([1, 1, 0, 1, 1, 0, 0, 0]),
};

/** States entered by a run whose launch and command each fit into one call of their function. */
export const TRANSITIONS = 10;
