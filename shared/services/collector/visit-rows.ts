import type { Row } from '../../ports/table-store.ts';
import type { CollectOptions, PackageCollectorDeps, Tally } from '../package-collector.ts';

const PAGE = 50;
const PAUSE_MS = 2;

/**
 * Calls `visit` with each row of a partition; one that it cannot handle is logged and keeps no other from its turn.
 * @returns the sort key to go on after, when time was up.
 */
export async function visitRows(
  { table, clock, logger }: PackageCollectorDeps,
  pk: string,
  { until = Number.POSITIVE_INFINITY, after = '' }: CollectOptions,
  tally: Tally,
  visit: (row: Row) => Promise<void>,
): Promise<string | undefined> {
  let from = after;
  while (clock.now() < until) {
    const page = await table.query(pk, { limit: PAGE, ...(from !== '' && { after: from }) });
    for (const row of page.rows) {
      try {
        await visit(row);
      } catch (error) {
        tally.failures += 1;
        logger.error('collector.failed', { key: row.sk, error });
      }
    }
    if (page.next === undefined) return undefined;
    from = page.next;
    // A table in this process answers without ever giving way to requests.
    await clock.sleep(PAUSE_MS);
  }
  return from;
}
