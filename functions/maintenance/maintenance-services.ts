import type { Logger } from '../../shared/ports/logger.ts';
import type { PackageCollector } from '../../shared/services/package-collector.ts';
import type { RunSweeper } from '../../shared/services/run-sweeper.ts';
import type { SandboxReaper } from '../../shared/services/sandbox-reaper.ts';

/** What the scheduled functions are given by the wiring, once a process. */
export interface MaintenanceServices {
  readonly logger: Logger;
  readonly sweeper: RunSweeper;
  readonly reaper: SandboxReaper;
  readonly collector: PackageCollector;
}

let provided: MaintenanceServices | undefined;

export function provideMaintenanceServices(services: MaintenanceServices): void {
  provided = services;
}

export function maintenanceServices(): MaintenanceServices {
  if (provided === undefined) throw new Error('no wiring has called provideMaintenanceServices');
  return provided;
}
