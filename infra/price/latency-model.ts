/** How long our own part of a run takes on AWS, from counted calls: everything but Fargate's start and the command. */
import { CALLS_WITHOUT_WAITING, STATE_CALLS } from './standard-run.ts';

/** Milliseconds, each a usual time within one Region for a warm function: assumed, to be replaced by what you measure. */
export const ASSUMED_MS = {
  table_read: 4,
  table_transaction: 12,
  object_get: 25,
  object_put: 40,
  ecs_call: 150,
  daemon_call: 6,
  /** What Step Functions take from the end of one state to the begin of the next. */
  transition: 25,
  /** Calling a warm function and getting its answer back. */
  function_call: 12,
} as const;

/** Calls to the daemon that are no waiting: bind, package, seal; exec, status; list, one output. */
const DAEMON_CALLS: Readonly<Record<string, number>> = {
  AwaitSandbox: 1,
  Materialize: 3,
  Execute: 2,
  CollectArtifacts: 2,
};
/** States that a choice follows. */
const WITH_CHOICE: ReadonlySet<string> = new Set(['AwaitSandbox', 'Execute']);
/** The final status is written before it. */
const AFTER_THE_END = 'Teardown';

export interface StateLatency {
  readonly state: string;
  /** The function's own time, as if nothing of it happened at once. */
  readonly work_ms: number;
  /** Around it: transitions and the call of the function. */
  readonly around_ms: number;
}

/** Up to the final status, which is what a caller waits for. */
export function ownLatency(): StateLatency[] {
  return Object.keys(STATE_CALLS)
    .filter((state) => state !== AFTER_THE_END)
    .map((state) => ({
      state,
      work_ms: workOf(state),
      around_ms: ASSUMED_MS.function_call + ASSUMED_MS.transition * (WITH_CHOICE.has(state) ? 2 : 1),
    }));
}

/** Milliseconds of a warm function in one state, its waits left out. */
export function workOf(state: string): number {
  const calls = CALLS_WITHOUT_WAITING[state] ?? STATE_CALLS[state];
  if (calls === undefined) throw new Error(`nothing was counted for ${state}`);
  return (
    calls.table_reads * ASSUMED_MS.table_read +
    (calls.table_writes + calls.table_transactions) * ASSUMED_MS.table_transaction +
    calls.object_gets * ASSUMED_MS.object_get +
    calls.object_puts * ASSUMED_MS.object_put +
    calls.ecs_calls * ASSUMED_MS.ecs_call +
    (DAEMON_CALLS[state] ?? 0) * ASSUMED_MS.daemon_call
  );
}
