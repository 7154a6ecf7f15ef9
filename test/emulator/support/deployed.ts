/** The deployment under test: its API, and what stands behind it. */
import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { DescribeTasksCommand, ECSClient, paginateListTasks, type Task } from '@aws-sdk/client-ecs';
import { paginateListObjectsV2, S3Client } from '@aws-sdk/client-s3';
import {
  DescribeExecutionCommand,
  GetExecutionHistoryCommand,
  type HistoryEvent,
  SFNClient,
} from '@aws-sdk/client-sfn';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { inject } from 'vitest';
import { BUILDER_KEY } from '../../../infra/local/emulator/builder-key.ts';
import { type EmulatorApi, emulatorApi } from '../../../infra/local/emulator/emulator-api.ts';
import { createDynamoTableStore } from '../../../shared/adapters/aws/dynamodb-table-store.ts';
import { createUlidIds } from '../../../shared/adapters/ulid-ids.ts';
import { SANDBOX_TAGS } from '../../../shared/contracts/ecs-task.ts';
import type { TableStore } from '../../../shared/ports/table-store.ts';
import { Api, type Scope } from '../../support/api.ts';
import { freshScope } from '../../support/fresh-scope.ts';
import { type DeployedFunctions, deployedFunctions } from './deployed-functions.ts';
import type { DeploymentFacts } from './deployment-facts.ts';
import { type FaultControl, faultControl } from './fault-control.ts';

export interface StoredRow {
  readonly pk: string;
  readonly sk: string;
  readonly version: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into rows of every shape
  readonly data: any;
}

export interface Deployed {
  readonly facts: DeploymentFacts;
  readonly faults: FaultControl;
  readonly functions: DeployedFunctions;
  readonly aws: EmulatorApi;
  readonly dynamo: DynamoDBClient;
  readonly s3: S3Client;
  readonly sfn: SFNClient;
  readonly ecs: ECSClient;
  api(scope?: Scope): Api;
  readonly table: TableStore;
  /** Every row of the table: by a scan, which the product has none of. */
  rows(): Promise<StoredRow[]>;
  /** Keys in a bucket that have a current version. */
  objects(bucket: string): Promise<string[]>;
  /** Tasks that are not stopped. */
  liveTasks(): Promise<Task[]>;
  taskOf(runId: string): Promise<Task | undefined>;
  executionArn(runId: string): string;
  executionStatus(runId: string): Promise<string | undefined>;
  history(runId: string): Promise<HistoryEvent[]>;
}

const BUILDER = { access_key_id: BUILDER_KEY.id, secret_access_key: BUILDER_KEY.secret } as const;

export function deployed(facts: DeploymentFacts = inject('deployment')): Deployed {
  const { endpoint, region } = facts.emulator;
  const connection = { endpoint, region, credentials: facts.credentials };
  const aws = emulatorApi(connection);
  const dynamo = new DynamoDBClient(connection);
  const s3 = new S3Client({ ...connection, forcePathStyle: true });
  const sfn = new SFNClient(connection);
  const ecs = new ECSClient({ ...connection, endpoint: facts.local_fargate.endpoint });
  const executionArn = (runId: string): string =>
    `${facts.state_machine_arn.replace(':stateMachine:', ':execution:')}:${runId}`;
  const liveTasks = () => listLiveTasks(ecs, facts.cluster);
  return {
    facts,
    faults: faultControl(facts.proxy),
    functions: deployedFunctions(aws, facts.deployment),
    aws,
    dynamo,
    s3,
    sfn,
    ecs,
    table: createDynamoTableStore({
      client: DynamoDBDocumentClient.from(dynamo),
      table: facts.table,
      ids: createUlidIds(),
    }),
    api: (scope = freshScope()) => new Api({ endpoint: facts.api, region, ...BUILDER }, scope),
    rows: () => scanRows(dynamo, facts.table),
    objects: (bucket) => listKeys(s3, bucket),
    liveTasks,
    taskOf: async (runId) =>
      (await liveTasks()).find((task) =>
        task.tags?.some(({ key, value }) => key === SANDBOX_TAGS.runId && value === runId),
      ),
    executionArn,
    executionStatus: async (runId) =>
      (await sfn.send(new DescribeExecutionCommand({ executionArn: executionArn(runId) }))).status,
    history: async (runId) => {
      const command = new GetExecutionHistoryCommand({
        executionArn: executionArn(runId),
        maxResults: 1_000,
      });
      return (await sfn.send(command)).events ?? [];
    },
  };
}

async function scanRows(client: DynamoDBClient, TableName: string): Promise<StoredRow[]> {
  const rows: StoredRow[] = [];
  for await (const page of paginateScan({ client }, { TableName, ConsistentRead: true })) {
    for (const { pk, sk, v, d } of page.Items ?? []) {
      const data: unknown = d?.S === undefined ? undefined : JSON.parse(d.S);
      rows.push({ pk: pk?.S ?? '', sk: sk?.S ?? '', version: v?.S ?? '', data });
    }
  }
  return rows;
}

async function listKeys(client: S3Client, Bucket: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of paginateListObjectsV2({ client }, { Bucket })) {
    for (const { Key } of page.Contents ?? []) if (Key !== undefined) keys.push(Key);
  }
  return keys;
}

async function listLiveTasks(client: ECSClient, cluster: string): Promise<Task[]> {
  const found: Task[] = [];
  for await (const { taskArns = [] } of paginateListTasks({ client }, { cluster })) {
    if (taskArns.length === 0) continue;
    const command = new DescribeTasksCommand({ cluster, tasks: taskArns, include: ['TAGS'] });
    found.push(...((await client.send(command)).tasks ?? []));
  }
  return found;
}
