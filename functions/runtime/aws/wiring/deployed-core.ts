import type { SandboxProfile } from '../../../../shared/contracts/sandbox-profile.ts';
import { createRunCore, type RunCore } from '../../../../shared/services/run-core.ts';
import { readProfiles } from '../deployed-files.ts';
import type { FunctionPorts } from '../function-ports.ts';
import { DEPLOYED_BOUNDS } from './deployed-bounds.ts';

export type DeployedCore = FunctionPorts &
  typeof DEPLOYED_BOUNDS &
  RunCore & { readonly profiles: readonly SandboxProfile[] };

/** For a function that needs a part of the run boundary: half of its code is packages, agents and artifacts. */
export function deployedCore(ports: FunctionPorts): DeployedCore {
  const deps = { ...ports, ...DEPLOYED_BOUNDS, profiles: readProfiles() };
  return { ...deps, ...createRunCore(deps) };
}
