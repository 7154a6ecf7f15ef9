import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createSqliteTableStore,
  type SqliteTableStore,
} from '../../shared/adapters/local/sqlite-table-store.ts';
import { createUlidIds } from '../../shared/adapters/ulid-ids.ts';
import { CognitionError } from '../../shared/domain/cognition-error.ts';
import {
  hasSmallDisk,
  killAndWait,
  lineFrom,
  runOnSmallDisk,
  startProgram,
} from '../support/child-process.ts';
import {
  createTestClock,
  makeTemporaryFolder,
  type TemporaryFolder,
  type TestClock,
} from '../support/local-stores.ts';

describe('the table in one SQLite file', () => {
  let folder: TemporaryFolder;
  let path: string;
  let clock: TestClock;
  const opened: SqliteTableStore[] = [];
  beforeEach(() => {
    folder = makeTemporaryFolder();
    path = join(folder.path, 'data', 'table.sqlite');
    clock = createTestClock();
  });
  afterEach(() => {
    for (const table of opened.splice(0)) table.close();
    folder.remove();
  });
  const open = (max_bytes?: number): SqliteTableStore => {
    const ids = createUlidIds();
    const table = createSqliteTableStore({ path, clock, ids, ...(max_bytes !== undefined && { max_bytes }) });
    opened.push(table);
    return table;
  };
  const put = (sk: string, expires_at?: number) =>
    ({
      kind: 'put',
      key: { pk: 'p', sk },
      data: sk,
      ...(expires_at !== undefined && { expires_at }),
    }) as const;

  it('has everything again after it was closed and opened', async () => {
    const first = open();
    const [version] = await first.transact([put('a')]);
    first.close();
    expect(await open().get({ pk: 'p', sk: 'a' })).toMatchObject({ data: 'a', version });
  });

  it('commits what was asked before it is closed', async () => {
    const table = open();
    const work = table.transact([put('a')]);
    table.close();
    await work;
    expect(await open().get({ pk: 'p', sk: 'a' })).toMatchObject({ data: 'a' });
  });

  it('refuses calls after it was closed, instead of hanging', async () => {
    const table = open();
    table.close();
    await expect(table.transact([put('a')])).rejects.toThrow();
    await expect(table.get({ pk: 'p', sk: 'a' })).rejects.toThrow();
    table.close();
  });

  it('keeps file, log and folder from other users', async () => {
    await open().transact([put('a')]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(`${path}-wal`).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder.path, 'data')).mode & 0o777).toBe(0o700);
  });

  it('lets a second store of this process neither in nor break the lock of the first', async () => {
    const first = open();
    await first.transact([put('a')]);
    expect(() => open()).toThrow(CognitionError);
    expect(() => open()).toThrow(
      /in use by another process: stop that server, or choose another COGNITION_DATA_DIR/,
    );
    await first.transact([put('b')]);
    const other = startProgram('write-rows.ts', path, 'hold');
    const ended = new Promise((resolve) => other.once('exit', resolve));
    expect(await ended).not.toBe(0);
  });

  it('is refused while another process has it and is free as soon as that is killed', async () => {
    const holder = startProgram('write-rows.ts', path, 'hold');
    await lineFrom(holder, /^open$/);
    expect(() => open()).toThrow(/in use by another process/);
    await killAndWait(holder);
    await open().transact([put('a')]);
  });

  it('has every acknowledged transaction whole, and no half of another, after a kill at any moment', async () => {
    for (const moment of [3, 60, 250]) {
      const writer = startProgram('write-rows.ts', path);
      let output = '';
      const enough = new Promise<void>((resolve) => {
        writer.stdout.on('data', (chunk) => {
          output += chunk;
          if (output.split('acknowledged').length > moment) resolve();
        });
      });
      await enough;
      await killAndWait(writer);
      const table = open();
      for (const [, sk = ''] of output.matchAll(/acknowledged (\S+)\n/g)) {
        expect(await table.get({ pk: 'left', sk })).toBeDefined();
      }
      const [left, right] = await Promise.all([
        table.query('left', { limit: 1_000 }),
        table.query('right', { limit: 1_000 }),
      ]);
      expect(left.rows.map(({ sk }) => sk)).toStrictEqual(right.rows.map(({ sk }) => sk));
      table.close();
    }
  });

  it('says that a file is none of ours and leaves it as it is', async () => {
    open().close();
    const garbage = 'not a database, but somebody may need it\n'.repeat(100);
    writeFileSync(path, garbage);
    expect(() => open()).toThrow(/damaged or not a table of this product/);
    expect(readFileSync(path, 'utf8')).toBe(garbage);
  });

  it('refuses the database of another program, or of another version', () => {
    open().close();
    const foreign = new DatabaseSync(path);
    foreign.exec('PRAGMA user_version = 99');
    foreign.close();
    expect(() => open()).toThrow(/schema 99, expected 1/);
  });

  it('reports damage where it is read, by a clear error', async () => {
    const table = open();
    for (let index = 0; index < 200; index += 1) {
      await table.transact([{ kind: 'put', key: { pk: 'p', sk: `s${index}` }, data: 'x'.repeat(2_000) }]);
    }
    table.close();
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0xee, 4_096 * 5, bytes.length - 4_096));
    const damaged = open();
    await expect(damaged.query('p', { limit: 1_000 })).rejects.toMatchObject({ code: 'internal_error' });
    await expect(damaged.query('p', { limit: 1_000 })).rejects.toThrow(/restore it from a backup/);
  });

  it('answers storage_full at its own limit and fails no small write for a large one that came with it', async () => {
    const table = open(400_000);
    await table.transact([put('before')]);
    const large = {
      kind: 'put',
      key: { pk: 'p', sk: 'large' },
      data: {},
      bytes: new Uint8Array(349_000),
    } as const;
    const results = await Promise.allSettled([
      table.transact([put('small1')]),
      table.transact([large, { ...large, key: { pk: 'p', sk: 'larger' } }]),
      table.transact([put('small2')]),
    ]);
    expect(results.map(({ status }) => status)).toStrictEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: { code: 'storage_full' } });
    const { rows } = await table.query('p');
    expect(rows.map(({ sk }) => sk)).toStrictEqual(['before', 'small1', 'small2']);
    await table.transact([{ kind: 'delete', key: { pk: 'p', sk: 'before' } }]);
    expect(await table.get({ pk: 'p', sk: 'before' })).toBeUndefined();
  });

  it.skipIf(!hasSmallDisk())('answers storage_full on a full disk and keeps all it acknowledged', () => {
    const report = runOnSmallDisk(3_000_000, 'fill-table.ts') as { acknowledged: number; readable: number };
    expect(report).toMatchObject({ refused: true, readable: report.acknowledged });
    expect(report.acknowledged).toBeGreaterThan(5);
  });

  it('purges rows that have expired, as many as asked, and no other', async () => {
    const table = open();
    const now = Math.floor(clock.now() / 1_000);
    await table.transact([
      put('old1', now - 2),
      put('old2', now - 1),
      put('now', now),
      put('later', now + 1),
      put('never'),
    ]);
    await table.transact([put('old1', now + 1_000)]);
    expect(await table.purgeExpired(1)).toBe(1);
    expect(await table.get({ pk: 'p', sk: 'old2' })).toBeUndefined();
    expect(await table.purgeExpired()).toBe(1);
    expect(await table.purgeExpired()).toBe(0);
    const { rows } = await table.query('p');
    expect(rows.map(({ sk }) => sk)).toStrictEqual(['later', 'never', 'old1']);
    clock.advance(1_000);
    expect(await table.purgeExpired()).toBe(1);
  });

  it('reads a page of a large partition through the index, in both directions', () => {
    open().close();
    const database = new DatabaseSync(path);
    for (const [lower, upper, order] of [
      ['sk >= ?', "sk < (? || CAST(x'ff' AS TEXT))", 'ASC'],
      ['sk > ?', "sk < (? || CAST(x'ff' AS TEXT))", 'ASC'],
      ['sk >= ?', 'sk < ?', 'DESC'],
    ]) {
      const plan = database
        .prepare(
          `EXPLAIN QUERY PLAN SELECT * FROM rows WHERE pk = ? AND ${lower} AND ${upper} ORDER BY sk ${order} LIMIT ?`,
        )
        .all('p', 'a', 'b', 10);
      expect(plan).toHaveLength(1);
      expect(String(plan[0]?.detail)).toMatch(/SEARCH rows USING PRIMARY KEY \(pk=\? AND sk>\? AND sk<\?\)/);
    }
    database.close();
  });
});
