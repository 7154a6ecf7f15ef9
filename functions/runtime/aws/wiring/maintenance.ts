import { createInterruptedRuns } from '../../../../shared/services/interrupted-runs.ts';
import { createMaintenanceLeases } from '../../../../shared/services/maintenance-leases.ts';
import { createPoolKeeper } from '../../../../shared/services/pool-keeper.ts';
import { createRunSweeper } from '../../../../shared/services/run-sweeper.ts';
import { createSandboxPool } from '../../../../shared/services/sandbox-pool.ts';
import { createSandboxReaper } from '../../../../shared/services/sandbox-reaper.ts';
import { createEndingSteps } from '../../../../shared/services/steps/ending-steps.ts';
import { provideMaintenanceServices } from '../../maintenance-services.ts';
import type { FunctionPorts } from '../function-ports.ts';
import { maintenanceServicesOf } from '../maintenance-services-of.ts';
import { deployedCore } from './deployed-core.ts';

export function wiring(ports: FunctionPorts): void {
  const core = deployedCore(ports);
  const steps = createEndingSteps(core);
  const pool = createSandboxPool({ ...core, size: ports.poolSize });
  provideMaintenanceServices(
    maintenanceServicesOf({
      ...ports,
      sweeper: createRunSweeper({ ...core, steps }),
      reaper: createSandboxReaper(core),
      pool: createPoolKeeper({ ...ports, pool, leases: createMaintenanceLeases(ports) }),
      interrupted: createInterruptedRuns({ ...core, steps }),
    }),
  );
}
