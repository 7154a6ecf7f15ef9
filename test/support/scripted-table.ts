/** The table of DynamoDB over a scripted wire. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createDynamoTableStore } from '../../shared/adapters/aws/dynamodb-table-store.ts';
import { createUlidIds } from '../../shared/adapters/ulid-ids.ts';
import type { Condition, RowKey, TableStore, Write } from '../../shared/ports/table-store.ts';
import { type ScriptedHttp, type Step, scriptedHttp, textOf } from './scripted-http.ts';

export interface ScriptedTable {
  readonly table: TableStore;
  readonly wire: ScriptedHttp;
}

export const tableOver = (...steps: Step[]): ScriptedTable => openTable(steps, 2);

/** The SDK waits for seconds before it tries a throttled call again. */
export const impatientTable = (step: Step): ScriptedTable => openTable([step], 1);

function openTable(steps: readonly Step[], maxAttempts: number): ScriptedTable {
  const wire = scriptedHttp(...steps);
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({ ...wire.options, maxAttempts }));
  const table = createDynamoTableStore({ client, table: 'records', ids: createUlidIds(), random: () => 0 });
  return { table, wire };
}

export const key = (sk: string): RowKey => ({ pk: 'p', sk });

export const put = (sk: string, condition?: Condition): Write => ({
  kind: 'put',
  key: key(sk),
  data: { sk },
  ...(condition !== undefined && { if: condition }),
});

/** The operations that were called, in order. */
export const callsOf = ({ requests }: ScriptedHttp): string[] =>
  requests.map(({ headers }) => headers['x-amz-target']?.replace('DynamoDB_20120810.', '') ?? '');

export const bodyOf = ({ requests }: ScriptedHttp, index: number): Record<string, never> =>
  JSON.parse(textOf(requests[index]));
