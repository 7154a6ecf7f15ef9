import type { Context } from 'aws-lambda';
import { maintenanceServices } from '../runtime/maintenance-services.ts';

/** For the page under way to come to its end. */
const MARGIN_MS = 60_000;

/** On a schedule: removes packages that nothing needs, and takes up what a crashed pass has left. */
export async function handler(_event: unknown, context: Context): Promise<void> {
  const { collector, logger, clock } = maintenanceServices();
  const until = clock.now() + context.getRemainingTimeInMillis() - MARGIN_MS;
  logger.info('gc.done', { ...(await collector.collect(until)) });
}
