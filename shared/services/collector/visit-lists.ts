import type { Row } from '../../ports/table-store.ts';
import type { CollectOptions, PackageCollectorDeps, Tally } from '../package-collector.ts';

export interface List {
  /** A partition. */
  readonly pk: string;
  readonly visit: (deps: PackageCollectorDeps, row: Row, tally: Tally) => Promise<void>;
}

/** A partition and a sort key in it; no partition has a space in its name. */
const PLACE = /^([^ ]+) (.*)$/s;
const PAGE = 50;
const PAUSE_MS = 2;

/**
 * Visits each row of each list, in order; a row that cannot be handled is logged and keeps no other from its turn.
 * @returns where to go on, when time was up. A place in a list that there is none of any more is the beginning.
 */
export async function visitLists(
  deps: PackageCollectorDeps,
  lists: readonly List[],
  { until = Number.POSITIVE_INFINITY, after = '' }: CollectOptions,
  tally: Tally,
): Promise<string | undefined> {
  const [, place, key = ''] = PLACE.exec(after) ?? [];
  const first = lists.findIndex(({ pk }) => pk === place);
  for (const [index, list] of lists.slice(Math.max(0, first)).entries()) {
    const stopped = await visitRows(
      deps,
      list,
      { until, after: index === 0 && first >= 0 ? key : '' },
      tally,
    );
    if (stopped !== undefined) return `${list.pk} ${stopped}`;
  }
  return undefined;
}

/** @returns the sort key to go on after, empty for the first row, when time was up. */
async function visitRows(
  deps: PackageCollectorDeps,
  { pk, visit }: List,
  { until, after }: Required<CollectOptions>,
  tally: Tally,
): Promise<string | undefined> {
  const { table, clock, logger } = deps;
  let from = after;
  while (clock.now() < until) {
    const page = await table.query(pk, { limit: PAGE, ...(from !== '' && { after: from }) });
    for (const row of page.rows) {
      try {
        await visit(deps, row, tally);
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
