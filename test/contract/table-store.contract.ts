/** What every TableStore keeps. An adapter passes by calling this with a factory of empty stores. */
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ConditionFailed,
  type JsonValue,
  type RowKey,
  type TableStore,
  type Write,
} from '../../shared/ports/table-store.ts';

export interface TableStoreUnderTest {
  readonly table: TableStore;
  close(): Promise<void>;
}

const key = (sk: string, pk = 'p'): RowKey => ({ pk, sk });
const put = (sk: string, data: JsonValue = { sk }): Write => ({ kind: 'put', key: key(sk), data });
const sortKeys = (rows: readonly RowKey[]): string[] => rows.map((row) => row.sk);

async function failedWrites(work: Promise<unknown>): Promise<readonly number[]> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ConditionFailed);
  return (error as ConditionFailed).failed;
}

export function tableStoreContract(name: string, open: () => Promise<TableStoreUnderTest>): void {
  describe(`${name} keeps the contract of TableStore`, () => {
    let opened: TableStoreUnderTest;
    let table: TableStore;
    beforeEach(async () => {
      opened = await open();
      table = opened.table;
    });
    afterEach(() => opened.close());
    const rows = (): TableStore => table;

    describe('rows', () => rowTests(rows));
    describe('conditions', () => conditionTests(rows));
    describe('transactions', () => transactionTests(rows));
    describe('queries', () => queryTests(rows));
  });
}

function rowTests(table: () => TableStore): void {
  it('returns undefined for a row that was never written', async () => {
    expect(await table().get(key('none'))).toBeUndefined();
  });

  it('returns what was put, with the version that the put answered', async () => {
    const [version] = await table().transact([
      { ...put('a', { n: 1, list: [null, true, 'x'] }), expires_at: 4_000_000_000 } as Write,
    ]);
    expect(await table().get(key('a'))).toStrictEqual({
      pk: 'p',
      sk: 'a',
      version,
      data: { n: 1, list: [null, true, 'x'] },
      expires_at: 4_000_000_000,
    });
  });

  it('replaces a row whole, its bytes and expiry too', async () => {
    await table().transact([
      { kind: 'put', key: key('a'), data: { old: 1 }, bytes: Buffer.from('old'), expires_at: 4_000_000_000 },
    ]);
    await table().transact([put('a', { fresh: 1 })]);
    const row = await table().get(key('a'));
    expect(row?.data).toStrictEqual({ fresh: 1 });
    expect(row).not.toHaveProperty('bytes');
    expect(row).not.toHaveProperty('expires_at');
  });

  it('keeps every byte, none and 350,000 of them', async () => {
    const every = Uint8Array.from({ length: 350_000 }, (_, index) => index % 256);
    await table().transact([
      { kind: 'put', key: key('full'), data: {}, bytes: every },
      { kind: 'put', key: key('empty'), data: {}, bytes: new Uint8Array(0) },
    ]);
    expect(Buffer.compare((await table().get(key('full')))?.bytes ?? Buffer.alloc(0), every)).toBe(0);
    expect((await table().get(key('empty')))?.bytes?.byteLength).toBe(0);
  });

  it('refuses more bytes than a row takes and stores nothing', async () => {
    const work = table().transact([{ kind: 'put', key: key('a'), data: {}, bytes: new Uint8Array(350_001) }]);
    await expect(work).rejects.toThrow(RangeError);
    expect(await table().get(key('a'))).toBeUndefined();
  });

  it('refuses data that no row of any table would take with body_too_large', async () => {
    await expect(table().transact([put('a', 'x'.repeat(400_001))])).rejects.toMatchObject({
      code: 'body_too_large',
    });
    expect(await table().get(key('a'))).toBeUndefined();
  });

  it('keeps any JSON as it is, __proto__ and constructor as names too', async () => {
    const data = JSON.parse(
      '{"__proto__": {"a": 1}, "constructor": "c", "toString": null, "\\ud800": "\\u0000"}',
    );
    await table().transact([put('a', data)]);
    const found = (await table().get(key('a')))?.data;
    expect(JSON.stringify(found)).toBe(JSON.stringify(data));
    expect(Object.hasOwn(found as object, '__proto__')).toBe(true);
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ stringUnit: 'binary' }), async (value) => {
        const json = JSON.stringify(value);
        await table().transact([put('any', JSON.parse(json))]);
        expect(JSON.stringify((await table().get(key('any')))?.data)).toBe(json);
      }),
      { numRuns: 50 },
    );
  });

  it('takes data as it was at the call, whatever the caller does to it afterwards', async () => {
    const data = { n: 1 };
    const work = table().transact([put('a', data)]);
    data.n = 2;
    await work;
    expect((await table().get(key('a')))?.data).toStrictEqual({ n: 1 });
  });

  it('tells keys apart that differ only in where they are split, in case, NUL or normal form', async () => {
    const keys: RowKey[] = [
      { pk: 'ab', sk: 'c' },
      { pk: 'a', sk: 'bc' },
      { pk: 'a', sk: 'BC' },
      { pk: 'a', sk: 'b\0c' },
      { pk: 'a', sk: 'b' },
      { pk: 'a', sk: 'é' },
      { pk: 'a', sk: 'e\u0301' },
    ];
    await table().transact(keys.map((each, index) => ({ kind: 'put', key: each, data: index })));
    const found = await Promise.all(keys.map(async (each) => (await table().get(each))?.data));
    expect(found).toStrictEqual(keys.map((_, index) => index));
  });

  it('finds nothing under a key that cannot be stored, and refuses to write it', async () => {
    const bad = [key(''), key('\ud800'), key('x'.repeat(1_025)), key('a', ''), key('a', 'é'.repeat(1_025))];
    for (const each of bad) {
      expect(await table().get(each)).toBeUndefined();
      await expect(table().transact([{ kind: 'put', key: each, data: 1 }])).rejects.toThrow(RangeError);
    }
  });
}

function conditionTests(table: () => TableStore): void {
  it('puts under `absent` once', async () => {
    await table().transact([{ ...put('a', 1), if: { absent: true } } as Write]);
    const again = table().transact([{ ...put('a', 2), if: { absent: true } } as Write]);
    expect(await failedWrites(again)).toStrictEqual([0]);
    expect((await table().get(key('a')))?.data).toBe(1);
  });

  it('puts, deletes and checks under `present` only what is there', async () => {
    const present = { if: { present: true } } as const;
    const writes: Write[] = [
      { kind: 'put', key: key('a'), data: 2, ...present },
      { kind: 'delete', key: key('a'), ...present },
      { kind: 'check', key: key('a'), ...present },
    ];
    for (const write of writes) expect(await failedWrites(table().transact([write]))).toStrictEqual([0]);
    await table().transact([put('a', 1)]);
    for (const write of [...writes].reverse()) {
      await table().transact([write]);
      if (write.kind === 'delete') await table().transact([put('a', 1)]);
    }
    expect((await table().get(key('a')))?.data).toBe(2);
  });

  it('puts, deletes and checks under a version only while it is the current one', async () => {
    const [first = ''] = await table().transact([put('a', 1)]);
    const [second = ''] = await table().transact([{ ...put('a', 2), if: { version: first } } as Write]);
    const stale = { if: { version: first } } as const;
    const writes: Write[] = [
      { kind: 'put', key: key('a'), data: 3, ...stale },
      { kind: 'delete', key: key('a'), ...stale },
      { kind: 'check', key: key('a'), ...stale },
    ];
    for (const write of writes) expect(await failedWrites(table().transact([write]))).toStrictEqual([0]);
    await table().transact([{ kind: 'check', key: key('a'), if: { version: second } }]);
    await table().transact([{ kind: 'delete', key: key('a'), if: { version: second } }]);
    expect(await table().get(key('a'))).toBeUndefined();
  });

  it('holds a version condition to fail where the row is gone', async () => {
    const work = table().transact([{ ...put('a', 1), if: { version: 'never' } } as Write]);
    expect(await failedWrites(work)).toStrictEqual([0]);
  });

  it('gives a re-created row a version that was never seen, so a stale one cannot revive', async () => {
    const seen = new Set<string>();
    for (let round = 0; round < 20; round += 1) {
      const [version = ''] = await table().transact([put('a', 'same')]);
      expect(seen.has(version)).toBe(false);
      seen.add(version);
      await table().transact([{ kind: 'delete', key: key('a') }]);
    }
    await table().transact([put('a', 'same')]);
    for (const version of seen) {
      const work = table().transact([{ ...put('a', 'other'), if: { version } } as Write]);
      expect(await failedWrites(work)).toStrictEqual([0]);
    }
  });

  it('gives every put of one transaction its own version, in the order of the writes', async () => {
    await table().transact([put('c')]);
    const versions = await table().transact([
      put('a'),
      { kind: 'delete', key: key('c') },
      put('b'),
      { kind: 'check', key: key('d'), if: { absent: true } },
    ]);
    expect(versions).toHaveLength(4);
    expect(versions[1]).toBeUndefined();
    expect(versions[3]).toBeUndefined();
    expect((await table().get(key('a')))?.version).toBe(versions[0]);
    expect((await table().get(key('b')))?.version).toBe(versions[2]);
    expect(versions[0]).not.toBe(versions[2]);
  });

  it('deletes without a condition what is not there without an error', async () => {
    expect(await table().transact([{ kind: 'delete', key: key('none') }])).toStrictEqual([undefined]);
  });

  it('names every write whose condition failed, and only those', async () => {
    await table().transact([put('a')]);
    const work = table().transact([
      { ...put('a'), if: { absent: true } } as Write,
      put('b'),
      { kind: 'check', key: key('c'), if: { present: true } },
      { kind: 'check', key: key('d'), if: { absent: true } },
      { kind: 'delete', key: key('e'), if: { version: 'x' } },
    ]);
    expect(await failedWrites(work)).toStrictEqual([0, 2, 4]);
  });
}

function transactionTests(table: () => TableStore): void {
  it('writes nothing of a transaction of which one condition fails, wherever it stands', async () => {
    await table().transact([put('kept', 'old'), put('there')]);
    const refused: Write = { ...put('there'), if: { absent: true } } as Write;
    const others: Write[] = [put('new'), put('kept', 'changed'), { kind: 'delete', key: key('there2') }];
    for (let at = 0; at <= others.length; at += 1) {
      await failedWrites(table().transact([...others.slice(0, at), refused, ...others.slice(at)]));
      expect(await table().get(key('new'))).toBeUndefined();
      expect((await table().get(key('kept')))?.data).toBe('old');
    }
  });

  it('takes 100 writes over several partitions, and refuses none and 101', async () => {
    const writes = Array.from(
      { length: 101 },
      (_, index): Write => ({
        kind: 'put',
        key: { pk: `p${index % 7}`, sk: `s${index}` },
        data: index,
      }),
    );
    await expect(table().transact([])).rejects.toThrow(RangeError);
    await expect(table().transact(writes)).rejects.toThrow(RangeError);
    expect(await table().get({ pk: 'p0', sk: 's0' })).toBeUndefined();
    expect(new Set(await table().transact(writes.slice(0, 100))).size).toBe(100);
    expect((await table().get({ pk: 'p1', sk: 's99' }))?.data).toBe(99);
  });

  it('refuses one key twice and stores nothing', async () => {
    const work = table().transact([put('a'), { kind: 'check', key: key('a'), if: { absent: true } }]);
    await expect(work).rejects.toThrow(RangeError);
    expect(await table().get(key('a'))).toBeUndefined();
  });

  it('lets exactly one of many concurrent writers through each condition', async () => {
    const create = Array.from({ length: 50 }, (_, index) =>
      table().transact([{ ...put('a', index), if: { absent: true } } as Write]),
    );
    const created = await Promise.allSettled(create);
    expect(created.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const { version = '' } = (await table().get(key('a'))) ?? {};
    const update = Array.from({ length: 50 }, (_, index) =>
      table().transact([{ ...put('a', `u${index}`), if: { version } } as Write]),
    );
    const updated = await Promise.allSettled(update);
    expect(updated.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of [...created, ...updated]) {
      if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(ConditionFailed);
    }
  });

  it('loses no increment of concurrent writers that retry', async () => {
    await table().transact([put('n', 0)]);
    const increment = async (): Promise<void> => {
      for (;;) {
        const row = await table().get(key('n'));
        const next: Write = {
          kind: 'put',
          key: key('n'),
          data: Number(row?.data) + 1,
          if: { version: row?.version ?? '' },
        };
        const done = await table()
          .transact([next])
          .catch((error: unknown) => {
            if (!(error instanceof ConditionFailed)) throw error;
          });
        if (done !== undefined) return;
      }
    };
    await Promise.all(Array.from({ length: 20 }, increment));
    expect((await table().get(key('n')))?.data).toBe(20);
  });

  it('lets many transactions through at once that check one row and write each its own', async () => {
    const [version = ''] = await table().transact([put('shared')]);
    const work = Array.from({ length: 50 }, (_, index) =>
      table().transact([
        { kind: 'check', key: key('shared'), if: { version } },
        put(`own${index}`),
        { kind: 'put', key: key(`of${index}`, 'elsewhere'), data: index },
      ]),
    );
    await Promise.all(work);
    expect((await table().query('elsewhere')).rows).toHaveLength(50);
  });

  it('fails a refused transaction alone among those that come at the same moment', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 30 }, (_, index) =>
        table().transact([
          put(`row${index}`),
          { kind: 'check', key: key('none'), if: index % 3 === 0 ? { present: true } : { absent: true } },
        ]),
      ),
    );
    const stored = await Promise.all(results.map((_, index) => table().get(key(`row${index}`))));
    results.forEach((result, index) => {
      expect(result.status).toBe(index % 3 === 0 ? 'rejected' : 'fulfilled');
      expect(stored[index] === undefined).toBe(index % 3 === 0);
    });
  });

  it('shows a write to every read that starts after it was acknowledged', async () => {
    for (let round = 0; round < 20; round += 1) {
      await table().transact([put('a', round)]);
      expect((await table().get(key('a')))?.data).toBe(round);
      expect((await table().query('p')).rows[0]?.data).toBe(round);
    }
  });
}

function queryTests(table: () => TableStore): void {
  const fill = async (keys: readonly string[]): Promise<void> => {
    await table().transact(keys.map((sk) => put(sk)));
  };

  it('answers an empty partition with no rows and no next', async () => {
    expect(await table().query('none')).toStrictEqual({ rows: [] });
  });

  it('finds nothing in a partition or below a prefix that no key can have', async () => {
    await fill(['a', '\ufffd']);
    for (const pk of ['', '\ud800', 'x'.repeat(2_049)]) {
      expect(await table().query(pk)).toStrictEqual({ rows: [] });
    }
    expect(await table().query('p', { prefix: 'a'.repeat(1_025) })).toStrictEqual({ rows: [] });
  });

  it('sees one partition only', async () => {
    await table().transact([put('a'), { kind: 'put', key: key('b', 'p2'), data: 1 }]);
    expect(sortKeys((await table().query('p')).rows)).toStrictEqual(['a']);
  });

  it('orders by UTF-8 bytes, not by UTF-16', async () => {
    const ordered = ['A', 'B', 'a', 'a-b', 'a/b', 'a0', 'é', '一', '\uff5e', '😀'];
    await fill([...ordered].reverse());
    expect(sortKeys((await table().query('p')).rows)).toStrictEqual(ordered);
    const down = await table().query('p', { descending: true });
    expect(sortKeys(down.rows)).toStrictEqual([...ordered].reverse());
  });

  it('takes a prefix literally, up to the last character there is', async () => {
    await fill(['a', 'ab', 'ab%', 'ab_', 'ab\u{10ffff}', 'ab\u{10ffff}z', 'ac', 'aB', 'b']);
    const found = await table().query('p', { prefix: 'ab' });
    expect(sortKeys(found.rows)).toStrictEqual(['ab', 'ab%', 'ab_', 'ab\u{10ffff}', 'ab\u{10ffff}z']);
    expect(sortKeys((await table().query('p', { prefix: 'ab%' })).rows)).toStrictEqual(['ab%']);
    const last = await table().query('p', { prefix: 'ab\u{10ffff}', descending: true });
    expect(sortKeys(last.rows)).toStrictEqual(['ab\u{10ffff}z', 'ab\u{10ffff}']);
  });

  it('pages through a prefix in both directions without a gap or a repetition', async () => {
    const inside = Array.from({ length: 25 }, (_, index) => `m#${String(index).padStart(2, '0')}`);
    await fill(['a', 'l', ...inside, 'n', 'z']);
    for (const descending of [false, true]) {
      const seen: string[] = [];
      let after: string | undefined;
      do {
        const page = await table().query('p', {
          prefix: 'm#',
          limit: 7,
          descending,
          ...(after !== undefined && { after }),
        });
        seen.push(...sortKeys(page.rows));
        after = page.next;
      } while (after !== undefined);
      expect(seen).toStrictEqual(descending ? [...inside].reverse() : inside);
    }
  });

  it('starts after a key that is not there, outside of the prefix too', async () => {
    await fill(['a1', 'b1', 'b3', 'c1']);
    const after = async (sk: string, descending = false): Promise<string[]> =>
      sortKeys((await table().query('p', { prefix: 'b', after: sk, descending })).rows);
    expect(await after('b2')).toStrictEqual(['b3']);
    expect(await after('b2', true)).toStrictEqual(['b1']);
    expect(await after('a1')).toStrictEqual(['b1', 'b3']);
    expect(await after('a1', true)).toStrictEqual([]);
    expect(await after('c1')).toStrictEqual([]);
    expect(await after('c1', true)).toStrictEqual(['b3', 'b1']);
    expect(await after('b', true)).toStrictEqual([]);
    expect(await after('b')).toStrictEqual(['b1', 'b3']);
  });

  it('gives 100 rows when no limit is named, up to 1,000 when one is, and refuses others', async () => {
    for (let at = 0; at < 1_100; at += 100) {
      await fill(Array.from({ length: 100 }, (_, index) => String(at + index).padStart(6, '0')));
    }
    const byDefault = await table().query('p');
    expect(byDefault.rows).toHaveLength(100);
    expect(byDefault.next).toBe('000099');
    expect((await table().query('p', { limit: 1_000 })).rows).toHaveLength(1_000);
    for (const limit of [0, -1, 1_001, 1.5, Number.NaN]) {
      await expect(table().query('p', { limit })).rejects.toThrow(RangeError);
    }
  });

  it('brings whole rows, with bytes, version and expiry', async () => {
    const bytes = Buffer.from([0, 255]);
    const [version] = await table().transact([
      { kind: 'put', key: key('a'), data: { x: 1 }, bytes, expires_at: 4_000_000_000 },
    ]);
    const [row] = (await table().query('p')).rows;
    expect(row).toMatchObject({ pk: 'p', sk: 'a', version, data: { x: 1 }, expires_at: 4_000_000_000 });
    expect(Buffer.from(row?.bytes ?? []).equals(bytes)).toBe(true);
  });

  it('brings everything of a partition of many large rows, page by page', async () => {
    const bytes = new Uint8Array(300_000).fill(1);
    for (let index = 0; index < 12; index += 1) {
      await table().transact([{ kind: 'put', key: key(`big${index + 10}`), data: {}, bytes }]);
    }
    let total = 0;
    let after: string | undefined;
    do {
      const page = await table().query('p', after === undefined ? {} : { after });
      total += page.rows.reduce((sum, row) => sum + (row.bytes?.byteLength ?? 0), 0);
      after = page.next;
    } while (after !== undefined);
    expect(total).toBe(12 * 300_000);
  });
}
