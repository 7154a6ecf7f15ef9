import { TransientError } from '../domain/transient-error.ts';
import type { TableStore, Write } from '../ports/table-store.ts';
import { type RetryDeps, retryConflicts } from './retry-conflicts.ts';

/**
 * A deletion that is repeated until its conditions hold.
 * @param plan the writes of an attempt, none when there is nothing left to do. It is told when the answer to an
 *   attempt before was lost: what is gone by then was deleted as asked.
 */
export async function deleteOnce(
  deps: RetryDeps & { readonly table: TableStore },
  what: string,
  plan: (isRepeated: boolean) => Promise<readonly Write[]>,
): Promise<void> {
  let inDoubt = false;
  await retryConflicts(deps, what, async () => {
    const writes = await plan(inDoubt);
    if (writes.length === 0) return;
    try {
      await deps.table.transact(writes);
    } catch (error) {
      inDoubt ||= error instanceof TransientError;
      throw error;
    }
  });
}
