/** The schedules that EventBridge keeps on AWS. */
import type { SqliteTableStore } from '../../shared/adapters/local/sqlite-table-store.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import type { Logger } from '../../shared/ports/logger.ts';
import { createExpiredObjectCollector } from '../../shared/services/expired-object-collector.ts';
import { createPackageCollector } from '../../shared/services/package-collector.ts';
import { createObjectRecords } from '../../shared/services/records/object-records.ts';
import type { RunBoundary } from '../../shared/services/run-boundary.ts';
import type { LocalStores } from './open-stores.ts';
import { repeat } from './repeat.ts';

const PURGE_ROWS = 1_000;

/** @returns stops all of it, and resolves when what is under way has ended. */
export function maintain(
  { table, objects, packages }: LocalStores,
  { pool, sweeper, reaper }: RunBoundary,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): () => Promise<unknown> {
  const collector = createPackageCollector({
    table,
    packages,
    clock,
    logger,
    objects: createObjectRecords(table),
  });
  const expired = createExpiredObjectCollector({ objects, clock });
  const stops = [
    repeat('pool', 5, () => pool.fill(), logger),
    repeat('sweeper', 5, () => sweeper.sweep(), logger),
    repeat('reaper', 30, () => reaper.reap(), logger),
    repeat('expired rows', 60, () => purgeExpired(table), logger),
    repeat('packages', 600, () => collector.collect(), logger),
    repeat('expired objects', 3_600, () => expired.collect(), logger),
  ];
  return () => Promise.all(stops.map((stop) => stop()));
}

/** A page at a time, so that requests get their turn. */
async function purgeExpired(table: SqliteTableStore): Promise<void> {
  while ((await table.purgeExpired(PURGE_ROWS)) === PURGE_ROWS);
}
