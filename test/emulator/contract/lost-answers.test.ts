import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { sha256Hex } from '../../../shared/domain/sha256.ts';
import { TransientError } from '../../../shared/domain/transient-error.ts';
import { ConditionFailed, type RowKey, type Write } from '../../../shared/ports/table-store.ts';
import { openEmulatorMachine } from './emulator-machine.ts';
import {
  type EmulatorObjects,
  type EmulatorTable,
  openEmulatorObjects,
  openEmulatorTable,
} from './emulator-stores.ts';
import { type LossyProxy, startLossyProxy } from './lossy-proxy.ts';

let proxy: LossyProxy;
beforeAll(async () => {
  proxy = await startLossyProxy(inject('emulator').endpoint);
});
afterAll(() => proxy.close());

const ABSENT = { absent: true } as const;

describe.each([1, 2])('%i lost answers of DynamoDB', (count) => {
  let opened: EmulatorTable;
  let keys = 0;
  let key: RowKey;
  beforeAll(async () => {
    opened = await openEmulatorTable({ endpoint: proxy.endpoint });
  });
  afterAll(async () => {
    proxy.lose(0);
    await opened.close();
  });
  beforeEach(() => {
    proxy.lose(0);
    keys += 1;
    key = { pk: `p${keys}`, sk: 's' };
  });
  const put = (data: number, more: object = {}): Write => ({ kind: 'put', key, data, ...more });

  it('leave a conditional put done, once and known', async () => {
    proxy.lose(count);
    const [version] = await opened.table.transact([put(1, { if: ABSENT })]);
    expect(proxy.lost).toBe(count);
    expect(await opened.table.get(key)).toMatchObject({ version, data: 1 });
  });

  it('leave an update of a version done, once and known', async () => {
    const [first = ''] = await opened.table.transact([put(1)]);
    proxy.lose(count);
    const [second] = await opened.table.transact([put(2, { if: { version: first } })]);
    expect(await opened.table.get(key)).toMatchObject({ version: second, data: 2 });
  });

  it('leave a conditional deletion done', async () => {
    const [version = ''] = await opened.table.transact([put(1)]);
    proxy.lose(count);
    await opened.table.transact([{ kind: 'delete', key, if: { version } }]);
    expect(await opened.table.get(key)).toBeUndefined();
  });

  it('leave a transaction done, all of it and once', async () => {
    const other = { pk: key.pk, sk: 'other' };
    const [old = ''] = await opened.table.transact([{ kind: 'put', key: other, data: 0 }]);
    proxy.lose(count);
    const [version] = await opened.table.transact([
      put(1, { if: ABSENT }),
      { kind: 'delete', key: other, if: { version: old } },
    ]);
    expect(await opened.table.get(key)).toMatchObject({ version, data: 1 });
    expect(await opened.table.get(other)).toBeUndefined();
  });

  it('leave a condition that does not hold failed', async () => {
    await opened.table.transact([put(1)]);
    proxy.lose(count);
    const writes = [put(2, { if: ABSENT }), { kind: 'delete', key: { pk: 'x', sk: 'y' } } as const];
    await expect(opened.table.transact(writes)).rejects.toBeInstanceOf(ConditionFailed);
    expect((await opened.table.get(key))?.data).toBe(1);
  });
});

it('answers of DynamoDB that are all lost leave the write in doubt', async () => {
  const opened = await openEmulatorTable({ endpoint: proxy.endpoint });
  proxy.lose(100);
  const write: Write = { kind: 'put', key: { pk: 'p', sk: 's' }, data: 1, if: ABSENT };
  await expect(opened.table.transact([write])).rejects.toBeInstanceOf(TransientError);
  proxy.lose(0);
  expect((await opened.table.get({ pk: 'p', sk: 's' }))?.data).toBe(1);
  await opened.close();
});

describe('a lost answer of S3', () => {
  let opened: EmulatorObjects;
  beforeAll(async () => {
    opened = await openEmulatorObjects({ endpoint: proxy.endpoint });
  });
  afterAll(() => opened.close());

  it('leaves an object put, whole', async () => {
    const bytes = Buffer.alloc(3_000_000, 7);
    proxy.lose(1);
    const outcome = await opened.objects.put({ key: 'a', bytes, sha256: sha256Hex(bytes) });
    // It was there when the second try came.
    expect(outcome).toBe('exists');
    expect(Buffer.compare((await opened.objects.get('a')) ?? Buffer.alloc(0), bytes)).toBe(0);
  });

  it('leaves an object deleted', async () => {
    proxy.lose(1);
    await opened.objects.delete('a');
    expect(await opened.objects.head('a')).toBeUndefined();
  });
});

it('a lost answer of Step Functions leaves a run started, once', async () => {
  const opened = await openEmulatorMachine({ endpoint: proxy.endpoint });
  const run = { fingerprint: 'a'.repeat(52), run_id: '01JBQ4V5M0000000000000LST1' };
  proxy.lose(1);
  await opened.orchestrator.start(run);
  expect(proxy.lost).toBe(1);
  await opened.idle();
  expect(await opened.begun()).toStrictEqual([run]);
  await opened.close();
});
