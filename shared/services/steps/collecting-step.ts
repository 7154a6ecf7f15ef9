import type { RunRecords } from '../records/run-records.ts';
import type { RunSteps } from '../run-steps.ts';
import type { SandboxArtifactCollector } from '../sandbox-artifact-collector.ts';
import type { SandboxManager } from '../sandbox-manager.ts';
import { enterStep, pinnedManifest } from './enter-step.ts';
import { withSandbox } from './with-sandbox.ts';

export interface CollectingStepDeps {
  readonly runs: RunRecords;
  readonly manager: SandboxManager;
  readonly collector: SandboxArtifactCollector;
}

export const createCollectingStep = (deps: CollectingStepDeps): Pick<RunSteps, 'collectArtifacts'> => ({
  async collectArtifacts(run) {
    const row = await enterStep(deps, run, 'collecting', 'collecting');
    if (row === undefined || row.stage === 'finish') return;
    const { manifest } = await pinnedManifest(deps, row);
    await withSandbox(deps, run, (sandbox) => deps.collector.collect(run, sandbox, manifest));
  },
});
