import type { QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import type { QueryOptions } from '../../ports/table-store.ts';
import { compareKeys, queryLimit } from '../checked-query.ts';
import { isStorableKey } from '../checked-writes.ts';

/**
 * The query as DynamoDB takes it. A key condition has room for one bound of the sort key, which the prefix takes; what
 * the page starts after goes where DynamoDB's own paging puts it, and need not be a row.
 * @returns undefined when no row can match.
 * @throws RangeError for a limit, or for an `after` that is no sort key.
 */
export function queryInput(table: string, pk: string, options: QueryOptions): QueryCommandInput | undefined {
  const { prefix = '', descending = false } = options;
  const limit = queryLimit(options);
  const start = startOf(prefix, options.after, descending);
  if (start === 'nowhere' || !isStorableKey({ pk, sk: prefix === '' ? 'any' : prefix })) return undefined;
  return {
    TableName: table,
    ConsistentRead: true,
    Limit: limit,
    ScanIndexForward: !descending,
    KeyConditionExpression: prefix === '' ? 'pk = :pk' : 'pk = :pk AND begins_with(sk, :prefix)',
    ExpressionAttributeValues: { ':pk': pk, ...(prefix !== '' && { ':prefix': prefix }) },
    ...(start !== 'at-the-edge' && { ExclusiveStartKey: { pk, sk: start.after } }),
  };
}

type Start = 'at-the-edge' | 'nowhere' | { readonly after: string };

/** DynamoDB refuses to start outside of what the prefix covers. */
function startOf(prefix: string, after: string | undefined, descending: boolean): Start {
  if (after === undefined) return 'at-the-edge';
  if (after === prefix && (descending || after === '')) return descending ? 'nowhere' : 'at-the-edge';
  if (after.startsWith(prefix)) {
    if (!isStorableKey({ pk: 'any', sk: after })) throw new RangeError('`after` is not a sort key');
    return { after };
  }
  const comesFirst = compareKeys(after, prefix) < 0;
  return comesFirst === descending ? 'nowhere' : 'at-the-edge';
}
