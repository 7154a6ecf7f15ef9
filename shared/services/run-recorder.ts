import type { NewEvent } from '../contracts/event.ts';
import type { RunRow } from '../contracts/rows.ts';
import type { RunStatus } from '../contracts/run.ts';
import type { RunRef } from '../contracts/workflow.ts';
import { checkTransition, isFinalStatus } from '../domain/run-transitions.ts';
import type { Clock } from '../ports/clock.ts';
import type { TableStore, Write } from '../ports/table-store.ts';
import type { EventRecords } from './records/event-records.ts';
import type { RunRecords } from './records/run-records.ts';
import { retryConflicts } from './retry-conflicts.ts';

/** What one transaction does to a run. */
export interface RunChange {
  /** Statuses to go through, in order; each is checked against the transition table. */
  readonly moves?: readonly RunStatus[];
  readonly set?: Partial<Omit<RunRow, 'run_id' | 'fingerprint' | 'status' | 'last_sequence' | 'timings'>>;
  readonly timings?: Partial<RunRow['timings']>;
  readonly events?: readonly NewEvent[];
  /** Further rows; together with the events at most 99. */
  readonly writes?: readonly Write[];
}

/** The one writer of run rows: status, events and whatever belongs to them change together or not at all. */
export interface RunRecorder {
  /**
   * Plans against the row as it is and writes under its version; when another writer was faster it plans again, so
   * a plan reads what its conditions depend on itself. Nothing is written when the plan is undefined, or when it
   * moves a run that has ended: a late step cannot revive it.
   * @returns the row as it is now.
   * @throws CognitionError `not_found`
   */
  record(
    run: RunRef,
    plan: (row: RunRow) => RunChange | undefined | Promise<RunChange | undefined>,
  ): Promise<RunRow>;
}

export interface RunRecorderDeps {
  readonly table: TableStore;
  readonly runs: RunRecords;
  readonly events: EventRecords;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
}

export function createRunRecorder(deps: RunRecorderDeps): RunRecorder {
  const { table, runs, events, clock } = deps;
  return {
    record: (run, plan) =>
      retryConflicts(deps, `the run ${run.run_id}`, async () => {
        const { row, version } = await runs.require(run);
        const change = await plan(row);
        if (change === undefined || !allowed(row, change.moves ?? [])) return row;
        const at = new Date(clock.now()).toISOString();
        const next = apply(row, change);
        const appended = (change.events ?? []).map((event, index) =>
          events.append(row, row.last_sequence + 1 + index, at, event),
        );
        await table.transact([runs.write(next, { version }), ...appended, ...(change.writes ?? [])]);
        return next;
      }),
  };
}

function apply(row: RunRow, { moves = [], set = {}, timings = {}, events = [] }: RunChange): RunRow {
  return {
    ...row,
    ...set,
    timings: { ...row.timings, ...timings },
    status: moves.at(-1) ?? row.status,
    last_sequence: row.last_sequence + events.length,
  };
}

function allowed(row: RunRow, moves: readonly RunStatus[]): boolean {
  if (moves.length > 0 && isFinalStatus(row.status)) return false;
  let from = row.status;
  for (const to of moves) {
    const result = checkTransition(from, to);
    if (result.kind === 'refused') throw new Error(`run ${row.run_id}: ${result.reason}`);
    from = to;
  }
  return true;
}
