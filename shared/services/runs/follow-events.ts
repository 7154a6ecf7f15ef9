import type { RunEvent } from '../../contracts/event.ts';
import type { RunRef } from '../../contracts/workflow.ts';
import { isFinalStatus } from '../../domain/run-transitions.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EventRecords } from '../records/event-records.ts';
import type { RunRecords } from '../records/run-records.ts';

export interface FollowEventsDeps {
  readonly runs: RunRecords;
  readonly events: EventRecords;
  readonly clock: Clock;
}

const POLL_MS = { first: 4, last: 250 } as const;

/** Looks at the run's own row, which counts its events, and reads events only when there are new ones. */
export async function followEvents(
  { runs, events, clock }: FollowEventsDeps,
  run: RunRef,
  {
    after,
    limit,
    wait_seconds,
    signal,
  }: { after: number; limit: number; wait_seconds: number; signal?: AbortSignal },
): Promise<{ items: RunEvent[]; run_ended: boolean }> {
  const began = clock.now();
  for (;;) {
    const { row } = await runs.require(run);
    const ended = isFinalStatus(row.status);
    if (row.last_sequence > after) {
      const items = await events.list(run, after, limit);
      return { items, run_ended: ended && (items.at(-1)?.sequence ?? after) >= row.last_sequence };
    }
    const waited = clock.now() - began;
    const left = wait_seconds * 1_000 - waited;
    if (ended || left <= 0 || signal?.aborted === true) return { items: [], run_ended: ended };
    // In step with the time waited so far: a quick run is followed closely, a long one cheaply.
    await pause(clock, Math.min(left, POLL_MS.last, Math.max(POLL_MS.first, waited * 0.15)), signal);
  }
}

/** An aborted wait is no error: the caller has gone. */
async function pause(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    if (signal?.aborted !== true) throw error;
  }
}
