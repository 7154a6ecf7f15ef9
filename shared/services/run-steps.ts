import type { RunRef, StepProgress } from '../contracts/workflow.ts';

/**
 * The states of the run machine. Each may run twice, and each may be the last thing that ever happens. They throw
 * TransientError for what the machine retries, CognitionError for what ends the run with that code.
 */
export interface RunSteps {
  pinManifest(run: RunRef): Promise<void>;
  launchSandbox(run: RunRef): Promise<void>;
  awaitSandbox(run: RunRef): Promise<StepProgress>;
  materialize(run: RunRef): Promise<void>;
  execute(run: RunRef): Promise<StepProgress>;
  collectArtifacts(run: RunRef): Promise<void>;
  finish(run: RunRef): Promise<void>;
  recordFailure(run: RunRef, failure: { code: string; message: string }): Promise<void>;
  teardown(run: RunRef): Promise<void>;
}
