import { createSandboxArtifactCollector } from '../../../../shared/services/sandbox-artifact-collector.ts';
import { createCollectingStep } from '../../../../shared/services/steps/collecting-step.ts';
import type { FunctionPorts } from '../function-ports.ts';
import { provideSteps } from '../provide-steps.ts';
import { deployedCore } from './deployed-core.ts';

export function wiring(ports: FunctionPorts): void {
  const core = deployedCore(ports);
  provideSteps(ports, createCollectingStep({ ...core, collector: createSandboxArtifactCollector(core) }));
}
