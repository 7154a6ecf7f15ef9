import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { createDynamoTableStore } from '../../shared/adapters/aws/dynamodb-table-store.ts';
import { createUlidIds } from '../../shared/adapters/ulid-ids.ts';
import { TransientError } from '../../shared/domain/transient-error.ts';
import { ConditionFailed, type Write } from '../../shared/ports/table-store.ts';
import {
  failureOf,
  json,
  jsonError,
  networkError,
  type Step,
  scriptedHttp,
  textOf,
} from '../support/scripted-http.ts';
import { bodyOf, callsOf, key, put, tableOver } from '../support/scripted-table.ts';

const ABSENT = { absent: true } as const;
const OK = json(200, {});
const RESET = networkError('ECONNRESET');
const CONDITION = jsonError('ConditionalCheckFailedException');
const THROTTLED = jsonError('ProvisionedThroughputExceededException');

const cancelled = (...codes: string[]): Step =>
  jsonError('TransactionCanceledException', 'cancelled', {
    CancellationReasons: codes.map((Code) => ({ Code, Message: 'Item size to update has exceeded' })),
  });
/** What a step that is one thing every time comes to. */
const played: (step: Step) => Extract<Step, (...args: never[]) => unknown> = (step) =>
  typeof step === 'function' ? step : () => step;

describe('one write alone', () => {
  it('is a plain put under its condition, with the new version', async () => {
    const { table, wire } = tableOver(OK);

    const [version] = await table.transact([
      {
        kind: 'put',
        key: key('a'),
        data: [1],
        bytes: Buffer.from('b'),
        expires_at: 7,
        if: { version: 'old' },
      },
    ]);

    expect(callsOf(wire)).toStrictEqual(['PutItem']);
    expect(bodyOf(wire, 0)).toMatchObject({
      TableName: 'records',
      Item: {
        pk: { S: 'p' },
        sk: { S: 'a' },
        v: { S: version },
        d: { S: '[1]' },
        b: { B: 'Yg==' },
        ttl: { N: '7' },
      },
      ConditionExpression: '#v = :version',
      ExpressionAttributeNames: { '#v': 'v' },
      ExpressionAttributeValues: { ':version': { S: 'old' } },
    });
  });

  it('is a plain delete when nothing is asked of the row', async () => {
    const { table, wire } = tableOver(OK);
    expect(await table.transact([{ kind: 'delete', key: key('a') }])).toStrictEqual([undefined]);
    expect(callsOf(wire)).toStrictEqual(['DeleteItem']);
  });

  it('is a transaction for a conditional delete, which only a token makes repeatable', async () => {
    const { table, wire } = tableOver(RESET, OK);

    await table.transact([{ kind: 'delete', key: key('a'), if: { present: true } }]);

    expect(callsOf(wire)).toStrictEqual(['TransactWriteItems', 'TransactWriteItems']);
    expect(bodyOf(wire, 0).ClientRequestToken).toBe(bodyOf(wire, 1).ClientRequestToken);
  });

  it('is a strong read for a check', async () => {
    const { table, wire } = tableOver(json(200, {}));
    await table.transact([{ kind: 'check', key: key('a'), if: ABSENT }]);
    const present = table.transact([{ kind: 'check', key: key('a'), if: { present: true } }]);
    await expect(present).rejects.toMatchObject({ failed: [0] });
    expect(callsOf(wire)).toStrictEqual(['GetItem', 'GetItem']);
    expect(bodyOf(wire, 0)).toMatchObject({ ConsistentRead: true });
  });

  it.each([ABSENT, { present: true } as const, { version: 'x' }])(
    'fails its condition %j once it is told so',
    async (condition) => {
      const { table, wire } = tableOver(CONDITION);
      const failure = await failureOf(table.transact([put('a', condition)]));
      expect(failure).toBeInstanceOf(ConditionFailed);
      expect(failure).toMatchObject({ failed: [0] });
      expect(callsOf(wire)).toStrictEqual(['PutItem']);
    },
  );
});

describe('a lost answer to a conditional put', () => {
  const written = (version: unknown): Step =>
    json(200, { Item: { pk: { S: 'p' }, sk: { S: 'a' }, v: { S: version }, d: { S: '1' } } });
  const serverError = json(500, { __type: 'InternalServerError' });

  it.each([
    ['a reset connection', RESET],
    ['an error of the server', serverError],
    ['a time-out', Object.assign(new Error('slow'), { name: 'TimeoutError' })],
  ])('after %s is no failed condition when the row has our version', async (_, lost) => {
    let ours: unknown;
    const { table } = tableOver(
      (request) => {
        ours = JSON.parse(textOf(request)).Item.v.S;
        return played(lost)(request);
      },
      CONDITION,
      (request) => played(written(ours))(request),
    );

    expect(await table.transact([put('a', ABSENT)])).toStrictEqual([ours]);
  });

  it.each([
    ['another version', written('another')],
    ['no row', json(200, {})],
  ])('is in doubt when there is %s by then', async (_, found) => {
    const { table } = tableOver(RESET, CONDITION, found);
    const failure = await failureOf(table.transact([put('a', ABSENT)]));
    expect(failure).toBeInstanceOf(TransientError);
  });

  it('is not suspected when the first try was only throttled', async () => {
    const { table, wire } = tableOver(THROTTLED, CONDITION);
    await expect(table.transact([put('a', ABSENT)])).rejects.toBeInstanceOf(ConditionFailed);
    expect(callsOf(wire)).toStrictEqual(['PutItem', 'PutItem']);
  });
});

describe('several writes', () => {
  const writes: Write[] = [
    put('a', ABSENT),
    { kind: 'delete', key: key('b') },
    { kind: 'check', key: key('c'), if: { version: 'x' } },
  ];

  it('are one transaction with a token', async () => {
    const { table, wire } = tableOver(OK);

    const [version, ...others] = await table.transact(writes);

    expect(others).toStrictEqual([undefined, undefined]);
    expect(bodyOf(wire, 0)).toMatchObject({
      ClientRequestToken: expect.stringMatching(/^[0-9A-Z]{26}$/),
      TransactItems: [
        { Put: { Item: { v: { S: version } }, ConditionExpression: 'attribute_not_exists(pk)' } },
        { Delete: { Key: { pk: { S: 'p' }, sk: { S: 'b' } } } },
        { ConditionCheck: { Key: { pk: { S: 'p' }, sk: { S: 'c' } }, ConditionExpression: '#v = :version' } },
      ],
    });
  });

  it.each([
    [
      ['ConditionalCheckFailed', 'None', 'ConditionalCheckFailed'],
      [0, 2],
    ],
    [['None', 'None', 'ConditionalCheckFailed'], [2]],
    [['TransactionConflict', 'None', 'ConditionalCheckFailed'], [2]],
  ])('fail the conditions that %j names', async (codes, failed) => {
    const { table, wire } = tableOver(cancelled(...codes));
    const failure = await failureOf(table.transact(writes));
    expect(failure).toBeInstanceOf(ConditionFailed);
    expect(failure).toMatchObject({ failed });
    expect(wire.requests).toHaveLength(1);
  });

  it.each(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'])(
    'are tried again after %s, as the same transaction',
    async (code) => {
      const { table, wire } = tableOver(cancelled('None', code, 'None'), cancelled(code, code, 'None'), OK);

      await table.transact(writes);

      expect(wire.requests).toHaveLength(3);
      expect(bodyOf(wire, 2)).toStrictEqual(bodyOf(wire, 0));
    },
  );

  it.each(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'])(
    'give up some time when it is %s forever',
    async (code) => {
      const { table, wire } = tableOver(cancelled(code, 'None', 'None'));
      expect(await failureOf(table.transact(writes))).toBeInstanceOf(TransientError);
      expect(wire.requests).toHaveLength(13);
    },
  );

  it.each(['ItemCollectionSizeLimitExceeded', 'ValidationError', 'SomethingNew'])(
    'are not repeated after %s, which stays',
    async (code) => {
      const { table, wire } = tableOver(cancelled(code, 'TransactionConflict', 'None'));
      await expect(table.transact(writes)).rejects.toMatchObject({ code: 'internal_error' });
      expect(wire.requests).toHaveLength(1);
    },
  );

  it('are refused without a reason in an answer that has none', async () => {
    const { table } = tableOver(jsonError('TransactionCanceledException'));
    await expect(table.transact(writes)).rejects.toMatchObject({ code: 'internal_error' });
  });

  it('meet others also when one of them is alone', async () => {
    for (const write of [put('a'), { kind: 'delete', key: key('a') } as Write]) {
      const { table, wire } = tableOver(jsonError('TransactionConflictException'), OK);
      await table.transact([write]);
      expect(wire.requests).toHaveLength(2);
      const stuck = tableOver(jsonError('TransactionConflictException'));
      expect(await failureOf(stuck.table.transact([write]))).toBeInstanceOf(TransientError);
    }
  });
});

it('fifty transactions that want one row at the same moment all get through', {
  timeout: 30_000,
}, async () => {
  let locked = false;
  const wire = scriptedHttp(async (request) => {
    if (locked) return played(cancelled('TransactionConflict', 'None'))(request);
    locked = true;
    // No time of the clock, which a busy machine stretches: those that come in the same turn meet.
    await new Promise((resolve) => setImmediate(resolve));
    locked = false;
    return played(OK)(request);
  });
  const client = DynamoDBDocumentClient.from(new DynamoDBClient(wire.options));
  const table = createDynamoTableStore({ client, table: 'records', ids: createUlidIds() });

  const work = Array.from({ length: 50 }, (_, index) => table.transact([put('hot'), put(`own${index}`)]));

  expect(await Promise.all(work)).toHaveLength(50);
  expect(wire.requests.length).toBeGreaterThan(50);
});
