import { maintenanceServices } from '../runtime/maintenance-services.ts';

/** On a schedule of a minute: forgets sandboxes that died waiting, and starts what the pools lack. */
export async function handler(): Promise<void> {
  const { pool, logger } = maintenanceServices();
  const ours = await pool.keep();
  logger.info('pool.done', { another_is_at_it: !ours });
}
