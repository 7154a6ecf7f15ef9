import { maintenanceServices } from './maintenance-services.ts';

/** On a schedule of ten minutes: removes packages that nothing needs, and takes up what a crashed pass has left. */
export async function handler(): Promise<void> {
  const { collector, logger } = maintenanceServices();
  logger.info('gc.done', { ...(await collector.collect()) });
}
