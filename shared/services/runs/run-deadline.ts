import { LIMITS } from '../../contracts/limits.ts';

/** For waiting in the queue, and for every step but launch and command together. */
const QUEUE_SECONDS = 300;
const STEPS_SECONDS = 600;

/** From being queued until a run that has not ended is taken for lost. */
export function runDeadlineSeconds(timeoutSeconds: number): number {
  return QUEUE_SECONDS + LIMITS.launchTimeoutSeconds + timeoutSeconds + STEPS_SECONDS;
}
