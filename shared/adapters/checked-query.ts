/** What every TableStore makes of a query before it touches its storage. */
import type { QueryOptions } from '../ports/table-store.ts';

const LIMIT = 100;
const LIMIT_MAX = 1_000;

/** @throws RangeError when it is not 1 to 1,000. */
export function queryLimit({ limit = LIMIT }: QueryOptions): number {
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw new RangeError(`a query takes 1 to ${LIMIT_MAX} rows, not ${limit}`);
}

/** The order of sort keys: that of their UTF-8 bytes. */
export const compareKeys = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
