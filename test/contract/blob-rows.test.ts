import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TableStore, Write } from '../../shared/ports/table-store.ts';
import { type BlobRows, blobWrites, createBlobRows } from '../../shared/services/blob-rows.ts';
import { type LocalTable, openLocalTable } from '../support/local-stores.ts';

const filled = (size: number, byte: number): Uint8Array => new Uint8Array(size).fill(byte);
const SIZES = [0, 1, 300_000, 300_001, 1_048_576, 4_194_304];

/** The table, but each transaction asks first; what it throws is a crash of the writer. */
function watched(table: TableStore, before: (writes: readonly Write[]) => Promise<void>): TableStore {
  return {
    get: (key) => table.get(key),
    query: (pk, options) => table.query(pk, options),
    transact: async (writes) => {
      await before(writes);
      return await table.transact(writes);
    },
  };
}

describe('blob rows', () => {
  let local: LocalTable;
  let blobs: BlobRows;
  beforeEach(async () => {
    local = await openLocalTable();
    blobs = createBlobRows({ table: local.table });
  });
  afterEach(() => local.close());
  const rowCount = async (): Promise<number> =>
    (await local.table.query('blob#o', { limit: 1_000 })).rows.length;

  it.each(SIZES)('bring %i bytes back as they were', async (size) => {
    const bytes = Uint8Array.from({ length: size }, (_, index) => (index * 31) % 256);
    await blobs.put('o', bytes);
    expect(Buffer.compare((await blobs.get('o')) ?? Buffer.from('absent'), bytes)).toBe(0);
    expect(await blobs.exists('o')).toBe(true);
  });

  it('are absent before they are put and after they are deleted, without a row left', async () => {
    expect(await blobs.get('o')).toBeUndefined();
    expect(await blobs.exists('o')).toBe(false);
    for (const size of SIZES) {
      await blobs.put('o', filled(size, 1));
      await blobs.delete('o');
      expect(await blobs.get('o')).toBeUndefined();
      expect(await rowCount()).toBe(0);
    }
    await blobs.delete('o');
  });

  it('leave no row of what they replaced', async () => {
    await blobs.put('o', filled(1_000_000, 1));
    await blobs.put('o', filled(650_000, 2));
    expect(await rowCount()).toBe(5);
    await blobs.put('o', filled(10, 3));
    expect(await rowCount()).toBe(1);
    expect(await blobs.get('o')).toStrictEqual(filled(10, 3));
  });

  it('carry their expiry on every row', async () => {
    await blobs.put('o', filled(650_000, 1), { expires_at: 4_000_000_000 });
    const { rows } = await local.table.query('blob#o');
    expect(rows.map(({ expires_at }) => expires_at)).toStrictEqual(Array(5).fill(4_000_000_000));
  });

  it('show the old bytes or the new ones wherever a writer dies', async () => {
    const old = filled(650_000, 1);
    const fresh = filled(1_000_000, 2);
    // Four chunks, their mark, the head; then the old mark and its three chunks go.
    const WRITES = 10;
    let visible = 0;
    for (let survives = 0; survives <= WRITES; survives += 1) {
      await blobs.put('o', old);
      let left = survives;
      const dying = watched(local.table, async () => {
        if (left === 0) throw new Error('killed');
        left -= 1;
      });
      const outcome = await createBlobRows({ table: dying })
        .put('o', fresh)
        .catch((error: Error) => error.message);
      const found = await blobs.get('o');
      const isFresh = Buffer.compare(found ?? Buffer.alloc(0), fresh) === 0;
      expect(isFresh || Buffer.compare(found ?? Buffer.alloc(0), old) === 0).toBe(true);
      if (outcome === undefined) expect(isFresh).toBe(true);
      visible += isFresh ? 1 : 0;
      await blobs.delete('o');
      expect(await rowCount()).toBe(0);
    }
    expect(visible).toBe(5);
  });

  it('write and delete every chunk alone, so that none is charged as part of a transaction', async () => {
    const transactions: (readonly Write[])[] = [];
    const counted = createBlobRows({
      table: watched(local.table, async (writes) => void transactions.push(writes)),
    });
    await counted.put('o', filled(4_194_304, 1));
    await counted.put('o', filled(1_000_000, 2));
    await counted.delete('o');
    const isChunk = ({ key }: Write): boolean => /^chunk#.*#\d+$/.test(key.sk);
    const withChunks = transactions.filter((writes) => writes.some(isChunk));
    expect(withChunks).toHaveLength(2 * (14 + 4));
    for (const writes of withChunks) expect(writes).toHaveLength(1);
  });

  it('never name chunks that a deletion took while they were written', async () => {
    let deletions = 0;
    const raced = watched(local.table, async (writes) => {
      const head = writes.some(({ kind, key }) => kind === 'put' && key.sk === 'head');
      if (head && deletions === 0) {
        deletions += 1;
        await blobs.delete('o');
      }
    });
    const bytes = filled(1_000_000, 5);
    await createBlobRows({ table: raced }).put('o', bytes);
    expect(deletions).toBe(1);
    expect(Buffer.compare((await blobs.get('o')) ?? Buffer.alloc(0), bytes)).toBe(0);
  });

  it.each(['!whole', '000001'])(
    'of which the row %s was lost are absent or whole, and can be put again',
    async (lost) => {
      const bytes = filled(1_000_000, 8);
      await blobs.put('o', bytes);
      const row = (await local.table.query('blob#o')).rows.find(({ sk }) => sk.endsWith(`#${lost}`));
      if (row === undefined) throw new Error(`there is no ${lost}`);
      await local.table.transact([{ kind: 'delete', key: { pk: row.pk, sk: row.sk } }]);

      expect(await blobs.get('o')).toStrictEqual(lost === '!whole' ? Buffer.from(bytes) : undefined);
      await blobs.put('o', bytes);

      expect(Buffer.compare((await blobs.get('o')) ?? Buffer.alloc(0), bytes)).toBe(0);
    },
  );

  it('end as one of several concurrent writers meant them, whole', async () => {
    const candidates = [1, 2, 3].map((byte) => filled(700_000 + byte, byte));
    const outcomes = await Promise.allSettled(candidates.map((bytes) => blobs.put('o', bytes)));
    expect(outcomes.map(({ status }) => status)).toStrictEqual(['fulfilled', 'fulfilled', 'fulfilled']);
    const found = (await blobs.get('o')) ?? Buffer.alloc(0);
    expect(candidates.some((bytes) => Buffer.compare(bytes, found) === 0)).toBe(true);
  });

  it('are read whole while another replaces them again and again', async () => {
    await blobs.put('o', filled(650_000, 0));
    const reads: (Uint8Array | undefined)[] = [];
    const write = async (): Promise<void> => {
      for (let byte = 1; byte <= 10; byte += 1) await blobs.put('o', filled(650_000, byte));
    };
    const read = async (): Promise<void> => {
      for (let round = 0; round < 20; round += 1) reads.push(await blobs.get('o'));
    };
    await Promise.all([write(), read()]);
    for (const bytes of reads) expect(new Set(bytes).size).toBe(1);
  });

  it('go into one transaction of the caller, under a condition on their head', async () => {
    const bytes = filled(1_100_000, 7);
    const writes = blobWrites('o', bytes, { expires_at: 4_000_000_000, if: { absent: true } });
    await local.table.transact([{ kind: 'put', key: { pk: 'p', sk: 'run' }, data: {} }, ...writes]);
    expect(Buffer.compare((await blobs.get('o')) ?? Buffer.alloc(0), bytes)).toBe(0);
    await expect(local.table.transact(writes)).rejects.toMatchObject({ failed: [writes.length - 1] });
    expect(() => blobWrites('o', filled(3_000_001, 1))).toThrow(RangeError);
  });
});
