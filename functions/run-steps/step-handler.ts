import {
  type RunRef,
  type StepInput,
  stepInputSchema,
  TRANSIENT_ERROR,
} from '../../shared/contracts/workflow.ts';
import { isCognitionError } from '../../shared/domain/cognition-error.ts';
import { TransientError } from '../../shared/domain/transient-error.ts';
import type { RunSteps } from '../../shared/services/run-steps.ts';
import { errorFields } from '../runtime/request-logger.ts';
import { services } from '../runtime/services.ts';

/** What the machine sees of a failure: its name is the stable code that Retry and Catch go by. */
class StepFailure extends Error {
  constructor(name: string, message: string, cause: unknown) {
    super(message, { cause });
    this.name = name;
  }
}

/**
 * One state of the run machine. Its answer is what the machine's choices need and nothing more.
 * @param step of the log, as the machine calls the state.
 */
export function stepHandler<T>(
  step: string,
  act: (steps: RunSteps, run: RunRef, input: StepInput) => Promise<T>,
): (event: unknown) => Promise<T> {
  return async (event) => {
    const input = stepInputSchema.parse(event);
    const run: RunRef = { fingerprint: input.fingerprint, run_id: input.run_id };
    const { steps, logger, metrics, clock } = services();
    const began = clock.now();
    try {
      const result = await act(steps, run, input);
      logger.info('run.step', { step, ...run, ms: clock.now() - began });
      return result;
    } catch (error) {
      const failure = toFailure(error);
      if (failure.name === 'digest_mismatch') metrics.add({ name: 'DigestFailures' });
      logger.warn('run.step_failed', {
        step,
        ...run,
        ms: clock.now() - began,
        code: failure.name,
        // A step is given no scope values that would have to be taken out.
        ...errorFields(error, []),
      });
      throw failure;
    }
  };
}

/** An error that is not one of ours keeps its message to the log: nobody has checked what it repeats. */
function toFailure(error: unknown): StepFailure {
  if (isCognitionError(error)) return new StepFailure(error.code, error.message, error);
  if (error instanceof TransientError) return new StepFailure(TRANSIENT_ERROR, error.message, error);
  return new StepFailure('internal_error', 'the step failed on our side', error);
}
