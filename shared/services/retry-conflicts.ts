import { CognitionError } from '../domain/cognition-error.ts';
import { TransientError } from '../domain/transient-error.ts';
import type { Clock } from '../ports/clock.ts';
import { ConditionFailed } from '../ports/table-store.ts';

export interface RetryDeps {
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
}

/** Thrown by an attempt that has seen, without a failed condition, that it must start again. */
export class LostRace extends Error {
  override readonly name = 'LostRace';
}

const ATTEMPTS = 60;
/** A store that stays busy is a failure of its own: not worth as many tries, nor more time than a caller has. */
const BUSY_ATTEMPTS = 10;
const BUSY_MS = 8_000;
const FIRST_DELAY_MS = 4;
const MAX_DELAY_MS = 400;

/**
 * Runs an optimistic write until its conditions hold. Of fifty writers of one row at least one gets through in
 * each round, so there are more attempts than that, with delays spread over the whole interval (full jitter).
 * @param what for the message, e.g. "the skill t1".
 * @throws CognitionError `conflict` when others were always faster; TransientError when the store stays busy.
 */
export async function retryConflicts<T>(
  { clock, random }: RetryDeps,
  what: string,
  attempt: () => Promise<T>,
): Promise<T> {
  const began = clock.now();
  let busy = 0;
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (error instanceof TransientError) {
        busy += 1;
        if (busy === BUSY_ATTEMPTS || clock.now() - began > BUSY_MS) throw error;
      } else if (!(error instanceof ConditionFailed || error instanceof LostRace)) throw error;
      if (tries === ATTEMPTS) throw tooManyWriters(what, error);
      await clock.sleep(random() * Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** tries));
    }
  }
}

function tooManyWriters(what: string, cause: unknown): CognitionError {
  return new CognitionError('conflict', `${what} is being changed by many writers at once; try again`, {
    cause,
    retryAfterSeconds: 1,
  });
}
