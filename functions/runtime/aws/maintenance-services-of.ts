import type { MaintenanceServices } from '../maintenance-services.ts';
import { presentService } from './present-service.ts';

type Known = Pick<MaintenanceServices, 'clock' | 'logger'>;

/** A service that is left out says so when the handler asks for it. */
export function maintenanceServicesOf(given: Known & Partial<MaintenanceServices>): MaintenanceServices {
  const { clock, logger } = given;
  return {
    clock,
    logger,
    get sweeper() {
      return presentService('sweeper', given.sweeper);
    },
    get reaper() {
      return presentService('reaper', given.reaper);
    },
    get collector() {
      return presentService('collector', given.collector);
    },
    get pool() {
      return presentService('pool', given.pool);
    },
    get interrupted() {
      return presentService('interrupted', given.interrupted);
    },
  };
}
