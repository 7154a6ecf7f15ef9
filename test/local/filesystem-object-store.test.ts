import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFilesystemObjectStore } from '../../shared/adapters/local/filesystem-object-store.ts';
import { sha256Hex } from '../../shared/domain/sha256.ts';
import type { ObjectStore } from '../../shared/ports/object-store.ts';
import { hasSmallDisk, killAndWait, runOnSmallDisk, startProgram } from '../support/child-process.ts';
import {
  createTestClock,
  makeTemporaryFolder,
  type TemporaryFolder,
  type TestClock,
} from '../support/local-stores.ts';

describe('objects in a folder', () => {
  let folder: TemporaryFolder;
  let root: string;
  let clock: TestClock;
  beforeEach(() => {
    folder = makeTemporaryFolder();
    root = join(folder.path, 'deep', 'objects-root');
    clock = createTestClock();
  });
  afterEach(() => folder.remove());
  const open = (): ObjectStore =>
    createFilesystemObjectStore({ root, clock, signDownload: (key) => `http://signed/${key}` });
  const object = (key: string, content = key) => ({
    key,
    bytes: Buffer.from(content),
    sha256: sha256Hex(content),
  });

  it('are there again for the next process', async () => {
    await open().put(object('a/b', 'kept'));
    expect(Buffer.from((await open().get('a/b')) ?? []).toString()).toBe('kept');
  });

  it('are written at the time of the clock, also when they replace others', async () => {
    const objects = open();
    await objects.put(object('a'));
    clock.advance(86_400_000);
    await objects.put(object('b'));
    expect((await objects.head('a'))?.written_at).toBe('2026-11-02T10:00:00.000Z');
    expect((await objects.head('b'))?.written_at).toBe('2026-11-03T10:00:00.000Z');
  });

  it('are kept from other users', async () => {
    await open().put(object('a/b'));
    expect(statSync(root).mode & 0o777).toBe(0o700);
    expect(statSync(join(root, 'objects', 'a')).mode & 0o777).toBe(0o700);
    expect(statSync(join(root, 'objects', 'a', 'b~')).mode & 0o777).toBe(0o600);
  });

  it('lose what crashed writers left, when the store is opened', async () => {
    open();
    writeFileSync(join(root, 'incoming', 'half'), 'half an obj');
    const objects = open();
    expect(readdirSync(join(root, 'incoming'))).toStrictEqual([]);
    expect((await objects.list('')).objects).toStrictEqual([]);
  });

  it('leave no temporary file behind, whatever becomes of a put', async () => {
    const objects = open();
    await objects.put(object('a'));
    await objects.put(object('a'));
    await objects.replace(object('a'));
    await expect(objects.put({ ...object('b'), sha256: sha256Hex('c') })).rejects.toThrow();
    expect(readdirSync(join(root, 'incoming'))).toStrictEqual([]);
  });

  it('survive that another store on the same folder is opened while they are put', async () => {
    const objects = open();
    const keys = Array.from({ length: 40 }, (_, index) => `k${index}`);
    const puts = keys.map((key) => objects.put(object(key, key.repeat(50_000))));
    open();
    await Promise.all(puts);
    expect((await objects.list('')).objects.map(({ size_bytes }) => size_bytes >= 100_000)).toStrictEqual(
      keys.map(() => true),
    );
  });

  it('take their folder with them when they were the last in it', async () => {
    const objects = open();
    await objects.put(object('artifacts/f/run/one'));
    await objects.put(object('artifacts/f/other/two'));
    await objects.delete('artifacts/f/run/one');
    expect(existsSync(join(root, 'objects', 'artifacts', 'f', 'run'))).toBe(false);
    expect(existsSync(join(root, 'objects', 'artifacts', 'f', 'other'))).toBe(true);
    await objects.delete('artifacts/f/other/two');
    expect(readdirSync(join(root, 'objects'))).toStrictEqual([]);
  });

  it('are not what lies about in the folder under other names', async () => {
    const objects = open();
    await objects.put(object('a'));
    writeFileSync(join(root, 'objects', 'stray'), 'x');
    mkdirSync(join(root, 'objects', 'empty'));
    expect((await objects.list('')).objects.map(({ key }) => key)).toStrictEqual(['a']);
    expect(await objects.get('stray')).toBeUndefined();
  });

  it('are whole when they are there and there when they were acknowledged, after a kill at any moment', async () => {
    for (const moment of [2, 30, 100]) {
      const writer = startProgram('write-objects.ts', root);
      let output = '';
      await new Promise<void>((resolve) => {
        writer.stdout.on('data', (chunk) => {
          output += chunk;
          if (output.split('acknowledged').length > moment) resolve();
        });
      });
      await killAndWait(writer);
      const objects = open();
      const { objects: listed } = await objects.list('');
      expect(listed.filter(({ size_bytes }) => size_bytes !== 200_000)).toStrictEqual([]);
      const keys = new Set(listed.map(({ key }) => key));
      for (const [, key = ''] of output.matchAll(/acknowledged (\S+)\n/g)) expect(keys).toContain(key);
      expect(readdirSync(join(root, 'incoming'))).toStrictEqual([]);
    }
  });

  it.skipIf(!hasSmallDisk())(
    'answer storage_full on a full disk, with no part and no temporary file left',
    () => {
      const report = runOnSmallDisk(2_000_000, 'fill-objects.ts') as { acknowledged: number };
      expect(report.acknowledged).toBeGreaterThan(5);
      expect(report).toStrictEqual({
        refused: true,
        acknowledged: report.acknowledged,
        whole: report.acknowledged,
        listed: report.acknowledged,
        temporary: 0,
        afterDeletion: 'written',
      });
    },
  );
});
