/**
 * TableStore on one DynamoDB table: partition key `pk` and sort key `sk`, both text, and expiry in `ttl`. No index and
 * no scan. Every read is strongly consistent.
 */
import { type DynamoDBDocumentClient, GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { Ids } from '../../ports/ids.ts';
import type { QueryResult, Row, RowKey, TableStore } from '../../ports/table-store.ts';
import { checkWrites, isStorableKey } from '../checked-writes.ts';
import { commitWrites } from './dynamodb-commit.ts';
import { dynamoFailure } from './dynamodb-failure.ts';
import { toRow } from './dynamodb-item.ts';
import { queryInput } from './dynamodb-query.ts';

export interface DynamoTableStoreOptions {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly ids: Ids;
  /** In [0, 1), spreads retries after conflicts; default Math.random. */
  readonly random?: () => number;
}

export function createDynamoTableStore(options: DynamoTableStoreOptions): TableStore {
  const { client, table, ids, random = Math.random } = options;
  const get = async ({ pk, sk }: RowKey): Promise<Row | undefined> => {
    if (!isStorableKey({ pk, sk })) return undefined;
    const command = new GetCommand({ TableName: table, Key: { pk, sk }, ConsistentRead: true });
    const { Item } = await asked('GetItem', () => client.send(command));
    return Item && toRow(Item);
  };
  const deps = { client, table, random, get };
  return {
    get,
    query: async (pk, query = {}): Promise<QueryResult> => {
      const input = queryInput(table, pk, query);
      if (input === undefined) return { rows: [] };
      const answer = await asked('Query', () => client.send(new QueryCommand(input)));
      const rows = (answer.Items ?? []).map(toRow);
      // A page also ends at 1 MB, so it may be shorter than its limit.
      const next: unknown = answer.LastEvaluatedKey?.sk;
      return typeof next === 'string' ? { rows, next } : { rows };
    },
    transact: async (writes) => {
      const versioned = checkWrites(writes).map((checked) => ({
        ...checked,
        version: checked.write.kind === 'put' ? ids.next() : '',
      }));
      await commitWrites(deps, versioned, ids.next());
      return versioned.map(({ version }) => (version === '' ? undefined : version));
    },
  };
}

async function asked<T>(call: string, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (cause) {
    throw dynamoFailure(call, cause);
  }
}
