import { createPackageReader } from '../../../../shared/services/package-reader.ts';
import { createRunBoundary, type RunBoundary } from '../../../../shared/services/run-boundary.ts';
import { readProfiles } from '../deployed-files.ts';
import type { FunctionPorts } from '../function-ports.ts';
import { DEPLOYED_BOUNDS } from './deployed-bounds.ts';

export const deployedBoundary = (ports: FunctionPorts): RunBoundary =>
  createRunBoundary({
    ...ports,
    ...DEPLOYED_BOUNDS,
    reader: createPackageReader(ports),
    profiles: readProfiles(),
    quotas: { runs_at_once: ports.runsAtOnce },
  });
