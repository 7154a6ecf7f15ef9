/** The AWS adapters against the emulator, each over a table or a bucket of its own. */
import { randomUUID } from 'node:crypto';
import { CreateTableCommand, DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectsCommand,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { OBJECT_CLIENT_OPTIONS, TABLE_CLIENT_OPTIONS } from '../../../shared/adapters/aws/client-options.ts';
import { createDynamoTableStore } from '../../../shared/adapters/aws/dynamodb-table-store.ts';
import { createS3ObjectStore } from '../../../shared/adapters/aws/s3-object-store.ts';
import { createUlidIds } from '../../../shared/adapters/ulid-ids.ts';
import type { ObjectStore } from '../../../shared/ports/object-store.ts';
import type { TableStore } from '../../../shared/ports/table-store.ts';
import { emulatorConnection } from './emulator-connection.ts';

const ids = createUlidIds();

export interface EmulatorTable {
  readonly table: TableStore;
  close(): Promise<void>;
}

/** @param endpoint another way to the emulator than the straight one. */
export async function openEmulatorTable({
  endpoint,
}: {
  readonly endpoint?: string;
} = {}): Promise<EmulatorTable> {
  const client = DynamoDBDocumentClient.from(
    new DynamoDBClient({ ...emulatorConnection(endpoint), ...TABLE_CLIENT_OPTIONS }),
  );
  const TableName = `contract-${randomUUID()}`;
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: 'S' },
      ],
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
    }),
  );
  return {
    table: createDynamoTableStore({ client, table: TableName, ids }),
    close: async () => {
      await client.send(new DeleteTableCommand({ TableName }));
      client.destroy();
    },
  };
}

export interface EmulatorObjects {
  readonly objects: ObjectStore;
  readonly client: S3Client;
  readonly bucket: string;
  close(): Promise<void>;
}

/** A bucket with versions, as a deployment makes it. */
export async function openEmulatorObjects({
  prefix = '',
  endpoint,
}: {
  readonly prefix?: string;
  readonly endpoint?: string;
} = {}): Promise<EmulatorObjects> {
  const client = new S3Client({
    ...emulatorConnection(endpoint),
    ...OBJECT_CLIENT_OPTIONS,
    forcePathStyle: true,
  });
  const Bucket = `contract-${randomUUID()}`;
  await client.send(new CreateBucketCommand({ Bucket }));
  await client.send(
    new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }),
  );
  return {
    objects: createS3ObjectStore({ client, bucket: Bucket, prefix }),
    client,
    bucket: Bucket,
    close: async () => {
      await empty(client, Bucket);
      await client.send(new DeleteBucketCommand({ Bucket }));
      client.destroy();
    },
  };
}

async function empty(client: S3Client, Bucket: string): Promise<void> {
  for (;;) {
    const page = await client.send(new ListObjectVersionsCommand({ Bucket }));
    const Objects = [...(page.Versions ?? []), ...(page.DeleteMarkers ?? [])].map(({ Key, VersionId }) => ({
      Key,
      VersionId,
    }));
    if (Objects.length === 0) return;
    await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: Objects.slice(0, 1_000) } }));
  }
}
