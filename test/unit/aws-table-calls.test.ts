import { describe, expect, it } from 'vitest';
import { TransientError } from '../../shared/domain/transient-error.ts';
import type { TableStore, Write } from '../../shared/ports/table-store.ts';
import { answer, brokenBody, failureOf, json, jsonError, networkError } from '../support/scripted-http.ts';
import { bodyOf, impatientTable, key, put, tableOver } from '../support/scripted-table.ts';

const OK = json(200, {});
const THROTTLED = jsonError('ProvisionedThroughputExceededException');

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
