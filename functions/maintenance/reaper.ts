import { maintenanceServices } from '../runtime/maintenance-services.ts';

/** On a schedule of a few minutes: stops tasks that nobody needs. */
export async function handler(): Promise<void> {
  const { reaper, logger } = maintenanceServices();
  const stopped = await reaper.reap();
  logger.info('reaper.done', { stopped: stopped.length });
}
