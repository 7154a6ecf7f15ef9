import type { Clock } from '../../shared/ports/clock.ts';
import type { Logger } from '../../shared/ports/logger.ts';
import type { InterruptedRuns } from '../../shared/services/interrupted-runs.ts';
import type { PoolKeeper } from '../../shared/services/pool-keeper.ts';
import type { ResumedCollector } from '../../shared/services/resumed-collector.ts';
import type { RunSweeper } from '../../shared/services/run-sweeper.ts';
import type { SandboxReaper } from '../../shared/services/sandbox-reaper.ts';
import { provided } from './provided.ts';

/** What the functions that nobody calls are given by the wiring, once a process. */
export interface MaintenanceServices {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly sweeper: RunSweeper;
  readonly reaper: SandboxReaper;
  readonly collector: ResumedCollector;
  readonly pool: PoolKeeper;
  readonly interrupted: InterruptedRuns;
}

export const { provide: provideMaintenanceServices, get: maintenanceServices } =
  provided<MaintenanceServices>('provideMaintenanceServices');
