import { createPackageReader } from '../../../../shared/services/package-reader.ts';
import { createSkillSandboxMaterializer } from '../../../../shared/services/skill-sandbox-materializer.ts';
import { createMaterializingStep } from '../../../../shared/services/steps/materializing-step.ts';
import type { FunctionPorts } from '../function-ports.ts';
import { provideSteps } from '../provide-steps.ts';
import { deployedCore } from './deployed-core.ts';

export function wiring(ports: FunctionPorts): void {
  const materializer = createSkillSandboxMaterializer({ ...ports, packages: createPackageReader(ports) });
  provideSteps(ports, createMaterializingStep({ ...deployedCore(ports), materializer }));
}
