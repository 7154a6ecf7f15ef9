import type { RunRef } from '../../contracts/workflow.ts';
import { isCognitionError } from '../../domain/cognition-error.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { RunSteps } from '../run-steps.ts';
import { type CaughtFailure, type EndRunDeps, endRun } from '../runs/end-run.ts';
import { type TeardownDeps, tearDown } from '../runs/tear-down.ts';
import { enterStep } from './enter-step.ts';

export interface EndingStepsDeps extends EndRunDeps, TeardownDeps {
  readonly metrics: Metrics;
}

/** The steps after which there is none: what they need is less than what a run needs. */
export function createEndingSteps(
  deps: EndingStepsDeps,
): Pick<RunSteps, 'finish' | 'recordFailure' | 'teardown'> {
  return {
    async finish(run) {
      const row = await enterStep(deps, run, 'collecting', 'collecting');
      if (row !== undefined) await end(deps, run, undefined);
    },
    async recordFailure(run, failure) {
      try {
        await end(deps, run, failure);
      } catch (error) {
        if (!isCognitionError(error, 'not_found')) throw error;
      }
    },
    teardown: (run) => tearDown(deps, run),
  };
}

/** Counted by the call that ended it; one whose answer was lost is not counted. */
async function end(deps: EndingStepsDeps, run: RunRef, failure: CaughtFailure | undefined): Promise<void> {
  let ends = false;
  const row = await deps.recorder.record(run, async (current) => {
    const change = await endRun(deps, current, failure);
    ends = change !== undefined;
    return change;
  });
  if (!ends) return;
  deps.metrics.add({ name: 'RunsFinished', outcome: row.status });
  if (row.failure !== null) deps.metrics.add({ name: 'RunFailures', code: row.failure.code });
  const { queued_at, finished_at } = row.timings;
  const duration = Date.parse(finished_at ?? queued_at) - Date.parse(queued_at);
  deps.metrics.add({ name: 'RunDuration', value: duration });
}
