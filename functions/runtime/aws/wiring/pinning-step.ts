import { createInputArtifacts } from '../../../../shared/services/input-artifacts.ts';
import { createPackageReader } from '../../../../shared/services/package-reader.ts';
import { createAgentRecords } from '../../../../shared/services/records/agent-records.ts';
import { createObjectRecords } from '../../../../shared/services/records/object-records.ts';
import { createSkillRecords } from '../../../../shared/services/records/skill-records.ts';
import { createRunSkillResolver } from '../../../../shared/services/run-skill-resolver.ts';
import { createPinningStep } from '../../../../shared/services/steps/pinning-step.ts';
import type { FunctionPorts } from '../function-ports.ts';
import { provideSteps } from '../provide-steps.ts';
import { deployedCore } from './deployed-core.ts';

export function wiring(ports: FunctionPorts): void {
  const core = deployedCore(ports);
  const resolver = createRunSkillResolver({
    ...core,
    agents: createAgentRecords(ports.table),
    skills: createSkillRecords(ports.table),
    objects: createObjectRecords(ports.table),
    packages: createPackageReader(ports),
    backend: ports.packages.backend,
  });
  provideSteps(ports, createPinningStep({ ...core, resolver, inputs: createInputArtifacts(ports) }));
}
