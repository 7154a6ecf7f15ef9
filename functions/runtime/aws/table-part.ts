import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { TABLE_CLIENT_OPTIONS } from '../../../shared/adapters/aws/client-options.ts';
import { createDynamoTableStore } from '../../../shared/adapters/aws/dynamodb-table-store.ts';
import { FUNCTION_ENVIRONMENT } from '../../../shared/contracts/function-environment.ts';
import type { TableStore } from '../../../shared/ports/table-store.ts';
import { functionPart } from './function-part.ts';

export const tablePart = functionPart(
  FUNCTION_ENVIRONMENT.table,
  ({ COGNITION_TABLE: table }, { ids, random }): TableStore => {
    const client = DynamoDBDocumentClient.from(new DynamoDBClient(TABLE_CLIENT_OPTIONS));
    return createDynamoTableStore({ client, table, ids, random });
  },
);
