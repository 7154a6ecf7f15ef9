import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { createDynamoTableStore } from '../../shared/adapters/aws/dynamodb-table-store.ts';
import { createUlidIds } from '../../shared/adapters/ulid-ids.ts';
import { TransientError } from '../../shared/domain/transient-error.ts';
import { ConditionFailed, type RowKey, type TableStore, type Write } from '../../shared/ports/table-store.ts';
import {
  answer,
  brokenBody,
  json,
  jsonError,
  networkError,
  type ScriptedHttp,
  type Step,
  scriptedHttp,
  textOf,
} from '../support/scripted-http.ts';

const key = (sk: string): RowKey => ({ pk: 'p', sk });
const put = (sk: string, condition?: Write['if']): Write => ({
  kind: 'put',
  key: key(sk),
  data: { sk },
  ...(condition !== undefined && { if: condition }),
});
const ABSENT = { absent: true } as const;
const OK = json(200, {});
const RESET = networkError('ECONNRESET');
const CONDITION = jsonError('ConditionalCheckFailedException');
const THROTTLED = jsonError('ProvisionedThroughputExceededException');

interface TableOverWire {
  readonly table: TableStore;
  readonly wire: ScriptedHttp;
}

const tableOver = (...steps: Step[]): TableOverWire => openTable(steps, 2);
/** The SDK waits for seconds before it tries a throttled call again. */
const impatientTable = (step: Step): TableOverWire => openTable([step], 1);

function openTable(steps: readonly Step[], maxAttempts: number): TableOverWire {
  const wire = scriptedHttp(...steps);
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({ ...wire.options, maxAttempts }));
  const table = createDynamoTableStore({ client, table: 'records', ids: createUlidIds(), random: () => 0 });
  return { table, wire };
}

const callsOf = ({ requests }: ScriptedHttp): string[] =>
  requests.map(({ headers }) => headers['x-amz-target']?.replace('DynamoDB_20120810.', '') ?? '');
const bodyOf = ({ requests }: ScriptedHttp, index: number): Record<string, never> =>
  JSON.parse(textOf(requests[index]));
const cancelled = (...codes: string[]): Step =>
  jsonError('TransactionCanceledException', 'cancelled', {
    CancellationReasons: codes.map((Code) => ({ Code, Message: 'Item size to update has exceeded' })),
  });
const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'nothing failed',
    (error) => error,
  );

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
        return typeof lost === 'function' ? lost(request) : lost;
      },
      CONDITION,
      (request) => {
        const step = written(ours);
        return typeof step === 'function' ? step(request) : step;
      },
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

const CALLS: readonly (readonly [string, (table: TableStore) => Promise<unknown>])[] = [
  ['GetItem', (table) => table.get(key('a'))],
  ['Query', (table) => table.query('p')],
  ['PutItem', (table) => table.transact([put('a')])],
  ['DeleteItem', (table) => table.transact([{ kind: 'delete', key: key('a') }])],
  ['TransactWriteItems', (table) => table.transact([put('a'), put('b')])],
];

describe.each(CALLS)('%s', (name, call) => {
  it.each([
    ['throttled', THROTTLED],
    ['throttled by the account', jsonError('RequestLimitExceeded')],
    ['answered with errors of the server', json(503, {})],
    ['without a connection', networkError('ECONNREFUSED')],
    ['without a name', networkError('ENOTFOUND')],
    ['cut in its answers', answer(200, '{"Item": {"pk"')],
    ['gone in the middle of its answers', answer(200, () => brokenBody('{"Item"'))],
  ])('is busy when it is %s forever', async (_, step) => {
    const { table } = impatientTable(step);
    expect(await failureOf(call(table))).toBeInstanceOf(TransientError);
  });

  it.each(['AccessDeniedException', 'ResourceNotFoundException', 'ValidationException'])(
    'fails on our side with %s and repeats nothing of what DynamoDB says',
    async (type) => {
      const { table } = tableOver(jsonError(type));
      const failure = await failureOf(call(table));
      expect(failure).toMatchObject({
        code: 'internal_error',
        message: `DynamoDB ${name} failed with ${type}`,
      });
      expect(failure).toHaveProperty('cause.message', expect.stringContaining('123456789012'));
    },
  );
});

describe('sizes', () => {
  it('above what a row takes are refused before anything is sent', async () => {
    const { table, wire } = tableOver(OK);
    const large: Write = { kind: 'put', key: key('a'), data: 'x'.repeat(400_001) };
    await expect(table.transact([large])).rejects.toMatchObject({ code: 'body_too_large' });
    const blob: Write = { kind: 'put', key: key('a'), data: 1, bytes: new Uint8Array(350_001) };
    await expect(table.transact([blob])).rejects.toThrow(RangeError);
    expect(wire.requests).toHaveLength(0);
  });

  it('that only DynamoDB finds too large are the fault of what was written', async () => {
    for (const step of [
      jsonError('ValidationException', 'Item size has exceeded the maximum allowed size'),
      jsonError(
        'ValidationException',
        'The aggregate size of the items in the transaction exceeded the limit',
      ),
    ]) {
      const { table } = tableOver(step);
      await expect(table.transact([put('a')])).rejects.toMatchObject({ code: 'body_too_large' });
    }
  });
});

describe('pages', () => {
  const item = (sk: string) => ({ pk: { S: 'p' }, sk: { S: sk }, v: { S: 'v' }, d: { S: '1' } });

  it('end where DynamoDB ended them, short of the limit or empty', async () => {
    const { table } = tableOver(
      json(200, { Items: [item('a'), item('b')], LastEvaluatedKey: { pk: { S: 'p' }, sk: { S: 'b' } } }),
      json(200, { Items: [], LastEvaluatedKey: { pk: { S: 'p' }, sk: { S: 'q' } } }),
      json(200, { Items: [item('z')] }),
    );
    const first = await table.query('p', { limit: 10 });
    expect(first.rows.map(({ sk }) => sk)).toStrictEqual(['a', 'b']);
    expect(first.next).toBe('b');
    expect(await table.query('p', { after: 'b' })).toStrictEqual({ rows: [], next: 'q' });
    expect(await table.query('p', { after: 'q' })).not.toHaveProperty('next');
  });

  it('are read strongly, by prefix, after a key that need not be there', async () => {
    const { table, wire } = tableOver(json(200, { Items: [] }));

    await table.query('p', { prefix: 'b', after: 'b2', limit: 7, descending: true });

    expect(bodyOf(wire, 0)).toStrictEqual({
      TableName: 'records',
      ConsistentRead: true,
      Limit: 7,
      ScanIndexForward: false,
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':pk': { S: 'p' }, ':prefix': { S: 'b' } },
      ExclusiveStartKey: { pk: { S: 'p' }, sk: { S: 'b2' } },
    });
  });

  it.each([
    [{ prefix: 'b', after: 'c' }],
    [{ prefix: 'b', after: 'a', descending: true }],
    [{ prefix: 'b', after: 'b', descending: true }],
    [{ after: '', descending: true }],
    [{ prefix: 'x'.repeat(1_025) }],
    [{ prefix: '\ud800' }],
  ])('%j hold nothing and ask nobody', async (options) => {
    const { table, wire } = tableOver(OK);
    expect(await table.query('p', options)).toStrictEqual({ rows: [] });
    expect(await table.query('', {})).toStrictEqual({ rows: [] });
    expect(wire.requests).toHaveLength(0);
  });

  it.each([
    [{ prefix: 'b', after: 'a' }],
    [{ prefix: 'b', after: 'c', descending: true }],
    [{ after: '' }],
    [{}],
  ])('%j begin at the edge', async (options) => {
    const { table, wire } = tableOver(json(200, { Items: [] }));
    await table.query('p', options);
    expect(bodyOf(wire, 0)).not.toHaveProperty('ExclusiveStartKey');
  });

  it('refuse to start after what is no sort key', async () => {
    const { table } = tableOver(OK);
    await expect(table.query('p', { after: 'x'.repeat(1_025) })).rejects.toThrow(RangeError);
    await expect(table.query('p', { after: '\udc00' })).rejects.toThrow(RangeError);
  });
});
