/** What every ObjectStore keeps. An adapter passes by calling this with a factory of empty stores. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sha256Hex } from '../../shared/domain/sha256.ts';
import type { ObjectStore, PutObject } from '../../shared/ports/object-store.ts';

export interface ObjectStoreUnderTest {
  readonly objects: ObjectStore;
  close(): Promise<void>;
}

const object = (key: string, content: string | Uint8Array = key): PutObject => {
  const bytes = Buffer.from(content);
  return { key, bytes, sha256: sha256Hex(bytes) };
};

const ESCAPES = [
  '',
  '/',
  '.',
  '..',
  '../a',
  'a/..',
  'a/../../b',
  'a/./b',
  'a//b',
  '/a',
  'a/',
  'a\\b',
  'a\0b',
  'a\nb',
  'a~',
  'a b',
  'é',
  'x'.repeat(1_025),
];

export function objectStoreContract(name: string, open: () => Promise<ObjectStoreUnderTest>): void {
  describe(`${name} keeps the contract of ObjectStore`, () => {
    let opened: ObjectStoreUnderTest;
    let objects: ObjectStore;
    beforeEach(async () => {
      opened = await open();
      objects = opened.objects;
    });
    afterEach(() => opened.close());
    const text = async (key: string): Promise<string | undefined> => {
      const bytes = await objects.get(key);
      return bytes === undefined ? undefined : Buffer.from(bytes).toString('utf8');
    };
    const keysOf = async (prefix: string, after?: string): Promise<string[]> =>
      (await objects.list(prefix, after)).objects.map(({ key }) => key);

    it('returns exactly the bytes that were put, none too', async () => {
      const every = Uint8Array.from({ length: 1_000_000 }, (_, index) => index % 256);
      expect(await objects.put(object('a/every', every))).toBe('written');
      expect(await objects.put(object('a/none', ''))).toBe('written');
      expect(Buffer.compare((await objects.get('a/every')) ?? Buffer.alloc(0), every)).toBe(0);
      expect((await objects.get('a/none'))?.byteLength).toBe(0);
    });

    it('has nothing under a key that was never put', async () => {
      expect(await objects.get('a/b/c')).toBeUndefined();
      expect(await objects.head('a/b/c')).toBeUndefined();
      await objects.delete('a/b/c');
    });

    it('keeps the first object under a key and says that it exists', async () => {
      expect(await objects.put(object('k', 'first'))).toBe('written');
      expect(await objects.put(object('k', 'second'))).toBe('exists');
      expect(await text('k')).toBe('first');
    });

    it('lets exactly one of many concurrent writers of a key write, and keeps its bytes whole', async () => {
      const contents = Array.from({ length: 20 }, (_, index) => String(index).repeat(50_000));
      const outcomes = await Promise.all(contents.map((content) => objects.put(object('dir/race', content))));
      expect(outcomes.filter((outcome) => outcome === 'written')).toHaveLength(1);
      expect(await text('dir/race')).toBe(contents[outcomes.indexOf('written')]);
    });

    it('refuses bytes that are not what their hash says, on put and on replace, and stores nothing', async () => {
      const wrong = { ...object('k', 'one'), sha256: sha256Hex('other') };
      await expect(objects.put(wrong)).rejects.toMatchObject({ code: 'digest_mismatch' });
      await expect(objects.replace(wrong)).rejects.toMatchObject({ code: 'digest_mismatch' });
      expect(await objects.get('k')).toBeUndefined();
      await objects.put(object('k', 'right'));
      await expect(objects.replace(wrong)).rejects.toMatchObject({ code: 'digest_mismatch' });
      expect(await text('k')).toBe('right');
    });

    it('replaces what is there, and what is not', async () => {
      await objects.put(object('k', 'damaged'));
      await objects.replace(object('k', 'repaired'));
      await objects.replace(object('new/k', 'fresh'));
      expect([await text('k'), await text('new/k')]).toStrictEqual(['repaired', 'fresh']);
    });

    it('tells size and time of an object', async () => {
      await objects.put(object('a/k', 'sized'));
      const info = await objects.head('a/k');
      expect(info).toMatchObject({ key: 'a/k', size_bytes: 5 });
      expect(info?.written_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    });

    it('forgets a deleted object, twice without an error, and takes its key again', async () => {
      await objects.put(object('a/b', 'one'));
      await objects.put(object('a/c', 'kept'));
      await objects.delete('a/b');
      await objects.delete('a/b');
      expect(await objects.get('a/b')).toBeUndefined();
      expect(await text('a/c')).toBe('kept');
      expect(await objects.put(object('a/b', 'two'))).toBe('written');
      expect(await text('a/b')).toBe('two');
    });

    it('loses no object to deletions of its neighbours at the same moment', async () => {
      for (let round = 0; round < 10; round += 1) {
        await objects.put(object('run/old', 'x'));
        const [outcome] = await Promise.all([
          objects.put(object(`run/new${round}`, 'kept')),
          objects.delete('run/old'),
        ]);
        expect(outcome).toBe('written');
        expect(await text(`run/new${round}`)).toBe('kept');
        await objects.delete(`run/new${round}`);
      }
    });

    it('keeps a key and keys below it apart', async () => {
      await objects.put(object('a', 'short'));
      await objects.put(object('a/b', 'long'));
      expect([await text('a'), await text('a/b')]).toStrictEqual(['short', 'long']);
      await objects.delete('a');
      expect(await text('a/b')).toBe('long');
    });

    it('lists by prefix in key order, whatever folders the keys look like', async () => {
      const ordered = ['A/z', 'a', 'a-b', 'a.b', 'a/b', 'a/b-c', 'a/b/c', 'a/b0', 'a0', 'b/c'];
      for (const key of [...ordered].reverse()) await objects.put(object(key));
      expect(await keysOf('')).toStrictEqual(ordered);
      expect(await keysOf('a/b')).toStrictEqual(['a/b', 'a/b-c', 'a/b/c', 'a/b0']);
      expect(await keysOf('a/b/')).toStrictEqual(['a/b/c']);
      expect(await keysOf('none')).toStrictEqual([]);
      for (const [index, key] of ordered.entries()) {
        expect(await keysOf('', key)).toStrictEqual(ordered.slice(index + 1));
      }
    });

    it('lists all of more objects than a page has', async () => {
      const keys = Array.from({ length: 1_005 }, (_, index) => `many/k${String(index).padStart(5, '0')}`);
      for (let at = 0; at < keys.length; at += 50) {
        await Promise.all(keys.slice(at, at + 50).map((key) => objects.put(object(key, 'x'))));
      }
      const seen: string[] = [];
      let after: string | undefined;
      do {
        const page = await objects.list('many/', after);
        seen.push(...page.objects.map(({ key }) => key));
        after = page.next;
      } while (after !== undefined);
      expect(seen).toStrictEqual(keys);
    });

    it.each(ESCAPES)('refuses the key %j everywhere', async (key) => {
      await expect(objects.put(object(key, 'x'))).rejects.toThrow(RangeError);
      await expect(objects.replace(object(key, 'x'))).rejects.toThrow(RangeError);
      await expect(objects.get(key)).rejects.toThrow(RangeError);
      await expect(objects.head(key)).rejects.toThrow(RangeError);
      await expect(objects.delete(key)).rejects.toThrow(RangeError);
      const download = { seconds: 60, content_type: 'text/plain', file_name: 'a.txt' };
      await expect(objects.downloadUrl(key, download)).rejects.toThrow(RangeError);
      expect(await keysOf('')).toStrictEqual([]);
    });
  });
}
