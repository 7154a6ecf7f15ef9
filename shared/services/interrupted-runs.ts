import type { RunRef } from '../contracts/workflow.ts';
import type { Logger } from '../ports/logger.ts';
import type { RunRecords } from './records/run-records.ts';
import type { RunSteps } from './run-steps.ts';
import type { CaughtFailure } from './runs/end-run.ts';

/** Ends runs whose machine ended without doing so: stopped or timed out from outside, or failed for good. */
export interface InterruptedRuns {
  /**
   * Repeatable; a run that has ended keeps its status, and its sandbox goes.
   * @param ended `run` when the machine's input is known, else the run is looked for by its id.
   * @returns false when there is nothing of such a run.
   * @throws TransientError: to be called again.
   */
  end(ended: {
    readonly run_id: string;
    readonly run: RunRef | undefined;
    readonly failure: CaughtFailure;
  }): Promise<boolean>;
}

export interface InterruptedRunsDeps {
  readonly runs: Pick<RunRecords, 'findActive'>;
  readonly steps: Pick<RunSteps, 'recordFailure' | 'teardown'>;
  readonly logger: Logger;
}

export function createInterruptedRuns({ runs, steps, logger }: InterruptedRunsDeps): InterruptedRuns {
  return {
    async end({ run_id, run, failure }) {
      const found = run ?? (await runs.findActive(run_id));
      if (found === undefined) return false;
      const ref: RunRef = { fingerprint: found.fingerprint, run_id };
      logger.warn('run.machine_ended', { ...ref, code: failure.code });
      await steps.recordFailure(ref, failure);
      await steps.teardown(ref);
      return true;
    },
  };
}
