import type { RunEvent } from '../../shared/contracts/event.ts';
import { LIMITS } from '../../shared/contracts/limits.ts';
import type { Client } from '../client/create-client.ts';
import { sleep } from '../sleep.ts';

export interface EventsFrom {
  readonly after?: number;
  /** Waits for more until the run has ended; else ends with what there is. */
  readonly follow: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** The events of a run in order, each once. */
export async function* runEventsFrom(
  client: Client,
  runId: string,
  from: EventsFrom,
): AsyncGenerator<RunEvent> {
  let after = from.after ?? 0;
  for (;;) {
    const { items, run_ended } = await client.listRunEvents(runId, {
      after,
      waitSeconds: from.follow ? LIMITS.eventWaitSeconds : 0,
      limit: LIMITS.listLimitMax,
      signal: from.signal,
    });
    for (const event of items) {
      if (event.sequence <= after) continue;
      after = event.sequence;
      yield event;
    }
    if (items.length === 0) {
      if (run_ended || !from.follow) return;
      // The server waits; one that does not must not be asked without a pause.
      await sleep(PAUSE_MS);
    }
    if (run_ended && items.some(({ type }) => ENDS.has(type)) && items.length < LIMITS.listLimitMax) return;
  }
}

const PAUSE_MS = 100;

/** Teardown comes after the end of a run, but nobody waits for it. */
const ENDS: ReadonlySet<string> = new Set(['run.succeeded', 'run.failed', 'run.timed_out', 'run.cancelled']);
