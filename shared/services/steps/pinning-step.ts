import type { RunSteps } from '../run-steps.ts';
import { type PinManifestDeps, pinManifest } from '../runs/pin-manifest.ts';
import { enterStep } from './enter-step.ts';

export const createPinningStep = (deps: PinManifestDeps): Pick<RunSteps, 'pinManifest'> => ({
  async pinManifest(run) {
    const row = await enterStep(deps, run, 'queued', 'pinned');
    if (row !== undefined) await pinManifest(deps, row);
  },
});
