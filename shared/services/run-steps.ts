import type { RunRef, StepProgress } from '../contracts/workflow.ts';
import type { PinManifestDeps } from './runs/pin-manifest.ts';
import { type CollectingStepDeps, createCollectingStep } from './steps/collecting-step.ts';
import { createEndingSteps, type EndingStepsDeps } from './steps/ending-steps.ts';
import { createMaterializingStep, type MaterializingStepDeps } from './steps/materializing-step.ts';
import { createPinningStep } from './steps/pinning-step.ts';
import { createSandboxSteps, type SandboxStepsDeps } from './steps/sandbox-steps.ts';

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

export interface RunStepsDeps
  extends PinManifestDeps,
    SandboxStepsDeps,
    MaterializingStepDeps,
    CollectingStepDeps,
    EndingStepsDeps {}

/** All of them; a function of a deployment has only its own. */
export const createRunSteps = (deps: RunStepsDeps): RunSteps => ({
  ...createPinningStep(deps),
  ...createSandboxSteps(deps),
  ...createMaterializingStep(deps),
  ...createCollectingStep(deps),
  ...createEndingSteps(deps),
});
