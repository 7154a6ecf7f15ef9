import type { RunRef } from '../contracts/workflow.ts';

/** Starts the run machine: Step Functions, or its interpreter in the standalone server. */
export interface RunOrchestrator {
  /** Idempotent by run id, also after the execution ended. @throws TransientError. */
  start(run: RunRef): Promise<void>;
}
