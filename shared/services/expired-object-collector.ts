import { LIMITS } from '../contracts/limits.ts';
import type { Clock } from '../ports/clock.ts';
import type { ObjectStore } from '../ports/object-store.ts';

export interface ExpiredObjectCollector {
  /** Deletes artifacts and inputs past their retention and tells how many. What lifecycle rules do in S3. */
  collect(): Promise<number>;
}

/** Bytes outlive the rows that lead to them by this much, so that no answer leads to bytes that are gone. */
const MARGIN_SECONDS = 86_400;

const RETENTIONS = [
  { prefix: 'artifacts/', seconds: LIMITS.runRetentionSeconds },
  { prefix: 'inputs/', seconds: LIMITS.inputRetentionSeconds },
] as const;

export function createExpiredObjectCollector(deps: {
  readonly objects: ObjectStore;
  readonly clock: Clock;
}): ExpiredObjectCollector {
  return {
    async collect() {
      let deleted = 0;
      for (const { prefix, seconds } of RETENTIONS) {
        deleted += await deleteOlder(deps, prefix, deps.clock.now() - (seconds + MARGIN_SECONDS) * 1_000);
      }
      return deleted;
    },
  };
}

async function deleteOlder(
  { objects }: { readonly objects: ObjectStore },
  prefix: string,
  before: number,
): Promise<number> {
  let deleted = 0;
  let after: string | undefined;
  do {
    const page = await objects.list(prefix, after);
    for (const { key, written_at } of page.objects) {
      if (Date.parse(written_at) >= before) continue;
      await objects.delete(key);
      deleted += 1;
    }
    after = page.next;
  } while (after !== undefined);
  return deleted;
}
