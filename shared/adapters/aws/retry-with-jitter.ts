import { setTimeout as sleep } from 'node:timers/promises';
import pRetry from 'p-retry';

export interface RetryOptions {
  /** After the first attempt. */
  readonly retries: number;
  readonly isWorthIt: (error: Error) => boolean;
  /** In [0, 1). */
  readonly random: () => number;
}

const FIRST_DELAY_MS = 10;
const MAX_DELAY_MS = 400;

/**
 * For conflicts that the SDK does not retry. Delays are spread over the whole interval (full jitter), so that many who
 * met do not meet again.
 */
export function retryWithJitter<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  return pRetry(attempt, {
    retries: options.retries,
    // The library's own delays only ever lengthen an interval.
    minTimeout: 0,
    maxTimeout: 0,
    shouldRetry: async ({ error, attemptNumber }) => {
      if (!options.isWorthIt(error)) return false;
      await sleep(options.random() * Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** attemptNumber));
      return true;
    },
  });
}
