/**
 * Writes as DynamoDB takes them. One alone is a plain put or delete, at half the price of a transaction; what has to be
 * repeatable by a token is a transaction. A reply that was lost never turns into a condition that did not hold.
 */
import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  PutCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { TransientError } from '../../domain/transient-error.ts';
import { ConditionFailed, type Row, type RowKey, type Write } from '../../ports/table-store.ts';
import type { CheckedWrite } from '../checked-writes.ts';
import { dynamoFailure } from './dynamodb-failure.ts';
import { conditionExpression, toItem } from './dynamodb-item.ts';
import { retryWithJitter } from './retry-with-jitter.ts';
import { countUnansweredTries } from './unanswered-tries.ts';

export interface CommitDeps {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  /** In [0, 1). */
  readonly random: () => number;
  readonly get: (key: RowKey) => Promise<Row | undefined>;
}

/** A write with the version that it gives its row; empty for what gives none. */
export interface VersionedWrite extends CheckedWrite {
  readonly version: string;
}

/** Of fifty writers of one row that meet in transactions, all get through within these: about two seconds. */
const CONFLICT_RETRIES = 12;

/** @param token makes the same transaction of several attempts; new for every call. */
export async function commitWrites(
  deps: CommitDeps,
  writes: readonly VersionedWrite[],
  token: string,
): Promise<void> {
  const [first, ...others] = writes;
  if (first === undefined || others.length > 0) return transact(deps, writes, token);
  const { write } = first;
  if (write.kind === 'put') return putAlone(deps, write, first);
  if (write.kind === 'check') return checkAlone(deps, write);
  // A repeated conditional delete could not tell its own work from another's.
  return write.if === undefined ? deleteAlone(deps, write.key) : transact(deps, writes, token);
}

async function putAlone(
  deps: CommitDeps,
  write: Extract<Write, { kind: 'put' }>,
  { json, version }: VersionedWrite,
): Promise<void> {
  const unanswered: (() => number)[] = [];
  try {
    await untilNoConflict(deps, async () => {
      const command = new PutCommand({
        TableName: deps.table,
        Item: toItem(write, json, version),
        ...conditionExpression(write.if),
      });
      unanswered.push(countUnansweredTries(command));
      await deps.client.send(command);
    });
  } catch (cause) {
    if (!(cause instanceof ConditionalCheckFailedException)) throw dynamoFailure('PutItem', cause);
    if (unanswered.every((count) => count() === 0)) throw new ConditionFailed([0], { cause });
    // Of the tries without an answer one may have written the row, and then it has our version.
    if ((await deps.get(write.key))?.version === version) return;
    throw new TransientError('the answer to a write was lost, and others have written since', cause);
  }
}

async function deleteAlone(deps: CommitDeps, { pk, sk }: RowKey): Promise<void> {
  const command = (): DeleteCommand => new DeleteCommand({ TableName: deps.table, Key: { pk, sk } });
  try {
    await untilNoConflict(deps, () => deps.client.send(command()));
  } catch (cause) {
    throw dynamoFailure('DeleteItem', cause);
  }
}

/** A strong read costs a quarter of a transaction that writes nothing. */
async function checkAlone(deps: CommitDeps, write: Extract<Write, { kind: 'check' }>): Promise<void> {
  const row = await deps.get(write.key);
  const holds =
    'absent' in write.if
      ? row === undefined
      : row !== undefined && ('present' in write.if || row.version === write.if.version);
  if (!holds) throw new ConditionFailed([0]);
}

async function transact(deps: CommitDeps, writes: readonly VersionedWrite[], token: string): Promise<void> {
  const input: TransactWriteCommandInput = {
    TransactItems: writes.map((write) => transactItem(deps.table, write)),
    ClientRequestToken: token,
  };
  try {
    await untilNoConflict(deps, () => deps.client.send(new TransactWriteCommand(input)));
  } catch (cause) {
    const failed = reasonsOf(cause).flatMap((code, index) => (code === CONDITION ? [index] : []));
    if (failed.length > 0) throw new ConditionFailed(failed, { cause });
    if (isPassingConflict(cause)) throw new TransientError('DynamoDB is busy with the same rows', cause);
    throw dynamoFailure('TransactWriteItems', cause);
  }
}

function transactItem(
  table: string,
  { write, json, version }: VersionedWrite,
): NonNullable<TransactWriteCommandInput['TransactItems']>[number] {
  const { pk, sk } = write.key;
  const target = { TableName: table, ...conditionExpression(write.if) };
  if (write.kind === 'put') return { Put: { ...target, Item: toItem(write, json, version) } };
  if (write.kind === 'delete') return { Delete: { ...target, Key: { pk, sk } } };
  // A check always has a condition; the type of the SDK wants to see it.
  return { ConditionCheck: { ConditionExpression: '', ...target, Key: { pk, sk } } };
}

const CONDITION = 'ConditionalCheckFailed';
/** Reasons for a cancellation that pass by themselves. */
const PASSING = new Set(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']);

/** In the order of the writes. */
function reasonsOf(cause: unknown): readonly string[] {
  if (!(cause instanceof TransactionCanceledException)) return [];
  return (cause.CancellationReasons ?? []).map(({ Code }) => Code ?? 'None');
}

/** True when other transactions, or too many at once, were in the way and nothing else was. */
function isPassingConflict(cause: unknown): boolean {
  if (cause instanceof TransactionConflictException) return true;
  const reasons = reasonsOf(cause).filter((code) => code !== 'None');
  return reasons.length > 0 && reasons.every((code) => PASSING.has(code));
}

/** The SDK tries again after throttling and lost connections, but not after a conflict. */
function untilNoConflict<T>({ random }: CommitDeps, attempt: () => Promise<T>): Promise<T> {
  return retryWithJitter(attempt, { retries: CONFLICT_RETRIES, isWorthIt: isPassingConflict, random });
}
