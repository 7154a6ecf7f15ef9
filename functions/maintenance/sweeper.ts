import { maintenanceServices } from '../runtime/maintenance-services.ts';

/** On a schedule of a minute: starts what was not started, ends what will not end by itself. */
export async function handler(): Promise<void> {
  const { sweeper, logger } = maintenanceServices();
  logger.info('sweeper.done', await sweeper.sweep());
}
