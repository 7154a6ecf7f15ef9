/**
 * TableStore in one SQLite file: WAL with a sync at every commit, held exclusively by one process. Calls of
 * `transact` that arrive in the same turn of the event loop share one commit, hence one sync, but each is all or
 * nothing on its own and none resolves before the commit is on disk.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import * as z from 'zod';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import {
  ConditionFailed,
  type QueryOptions,
  type QueryResult,
  type Row,
  type RowKey,
  type TableStore,
} from '../../ports/table-store.ts';
import { compareKeys, queryLimit } from '../checked-query.ts';
import { type CheckedWrite, checkWrites, isStorableKey } from '../checked-writes.ts';
import { openTableFile } from './open-table-file.ts';
import { sqliteFailure } from './sqlite-failure.ts';

export interface SqliteTableStoreOptions {
  /** The file; its folder is made when missing. */
  readonly path: string;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The file grows to at most this; then `storage_full`. Default: as far as the disk goes. */
  readonly max_bytes?: number;
}

export interface SqliteTableStore extends TableStore {
  /** Drops at most `limit` rows (default 1,000) that have expired, and tells how many. */
  purgeExpired(limit?: number): Promise<number>;
  /** Commits what is under way and gives the file free. */
  close(): void;
}

type Versions = readonly (string | undefined)[];
type Outcome = { readonly versions: Versions } | { readonly error: unknown };

interface Call {
  readonly writes: readonly CheckedWrite[];
  readonly settle: (outcome: Outcome) => void;
}

const COLUMNS = 'pk, sk, version, data, bytes, expires_at';
/** 0xFF is in no UTF-8 text, so this sorts after every key that begins with the prefix. */
const AFTER_PREFIX = "(? || CAST(x'ff' AS TEXT))";
const PURGE_LIMIT = 1_000;

const storedRowSchema = z.object({
  pk: z.string(),
  sk: z.string(),
  version: z.string(),
  data: z.string(),
  bytes: z.instanceof(Uint8Array).nullable(),
  expires_at: z.number().nullable(),
});
const storedVersionSchema = z.object({ version: z.string() });

/** @throws CognitionError when another process holds the file, or the file is none of ours or damaged. */
export function createSqliteTableStore(options: SqliteTableStoreOptions): SqliteTableStore {
  const database = openTableFile(options.path, options.max_bytes);
  const prepare = statementCache(database);
  const failure = (error: unknown): unknown => sqliteFailure(error, options.path);
  const commit = createCommitter(database, prepare, options.ids);
  const queue: Call[] = [];

  const flush = (): void => {
    const calls = queue.splice(0);
    if (calls.length === 0) return;
    for (const [index, outcome] of commit(calls).entries()) {
      calls[index]?.settle('error' in outcome ? { error: failure(outcome.error) } : outcome);
    }
  };
  const guarded = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw failure(error);
    }
  };

  return {
    get: async (key) => guarded(() => readRow(prepare, key)),
    query: async (pk, query = {}) => guarded(() => queryRows(prepare, pk, query)),
    transact: async (writes) => {
      const checked = checkWrites(writes);
      return await new Promise<Versions>((resolve, reject) => {
        if (queue.length === 0) setImmediate(flush);
        queue.push({
          writes: checked,
          settle: (outcome) => ('error' in outcome ? reject(outcome.error) : resolve(outcome.versions)),
        });
      });
    },
    purgeExpired: async (limit = PURGE_LIMIT) =>
      guarded(() => {
        const now = Math.floor(options.clock.now() / 1_000);
        const doomed = 'SELECT pk, sk FROM rows WHERE expires_at <= ? ORDER BY expires_at LIMIT ?';
        return Number(prepare(`DELETE FROM rows WHERE (pk, sk) IN (${doomed})`).run(now, limit).changes);
      }),
    close: () => {
      flush();
      if (database.isOpen) database.close();
    },
  };
}

function statementCache(database: DatabaseSync): (sql: string) => StatementSync {
  const statements = new Map<string, StatementSync>();
  return (sql) => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const statement = database.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
}

/** Every outcome is final when this returns: committed and synced, or rolled back. */
function createCommitter(database: DatabaseSync, prepare: (sql: string) => StatementSync, ids: Ids) {
  return function commit(calls: readonly Call[]): Outcome[] {
    try {
      database.exec('BEGIN IMMEDIATE');
      const outcomes = calls.map((call) => applyCall(prepare, call.writes, ids));
      database.exec('COMMIT');
      return outcomes;
    } catch (error) {
      rollBack(database);
      // One call that fills the disk must not fail the small ones that came with it.
      return calls.length === 1 ? [{ error }] : calls.flatMap((call) => commit([call]));
    }
  };
}

function rollBack(database: DatabaseSync): void {
  // SQLite has rolled back by itself after some errors, such as a full disk.
  if (database.isOpen && database.isTransaction) database.exec('ROLLBACK');
}

/** Conditions come first and writes only after all of them, so a refused call has changed nothing. */
function applyCall(
  prepare: (sql: string) => StatementSync,
  writes: readonly CheckedWrite[],
  ids: Ids,
): Outcome {
  const failed = writes.flatMap((checked, index) => (conditionHolds(prepare, checked) ? [] : [index]));
  if (failed.length > 0) return { error: new ConditionFailed(failed) };
  return { versions: writes.map((checked) => applyWrite(prepare, checked, ids)) };
}

function conditionHolds(prepare: (sql: string) => StatementSync, { write }: CheckedWrite): boolean {
  if (write.if === undefined) return true;
  const found = prepare('SELECT version FROM rows WHERE pk = ? AND sk = ?').get(write.key.pk, write.key.sk);
  if ('absent' in write.if) return found === undefined;
  if (found === undefined) return false;
  return 'present' in write.if || storedVersionSchema.parse(found).version === write.if.version;
}

function applyWrite(
  prepare: (sql: string) => StatementSync,
  { write, json }: CheckedWrite,
  ids: Ids,
): string | undefined {
  const { pk, sk } = write.key;
  if (write.kind === 'delete') prepare('DELETE FROM rows WHERE pk = ? AND sk = ?').run(pk, sk);
  if (write.kind !== 'put') return undefined;
  const version = ids.next();
  prepare(`INSERT OR REPLACE INTO rows (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)`).run(
    pk,
    sk,
    version,
    json,
    write.bytes ?? null,
    write.expires_at ?? null,
  );
  return version;
}

function readRow(prepare: (sql: string) => StatementSync, key: RowKey): Row | undefined {
  if (!isStorableKey(key)) return undefined;
  const found = prepare(`SELECT ${COLUMNS} FROM rows WHERE pk = ? AND sk = ?`).get(key.pk, key.sk);
  return found === undefined ? undefined : toRow(found);
}

function queryRows(prepare: (sql: string) => StatementSync, pk: string, query: QueryOptions): QueryResult {
  const { prefix = '', after, descending = false } = query;
  const limit = queryLimit(query);
  const range = descending ? rangeDown(prefix, after) : rangeUp(prefix, after);
  const sql = `SELECT ${COLUMNS} FROM rows WHERE pk = ? AND ${range.lower} AND ${range.upper}
    ORDER BY sk ${descending ? 'DESC' : 'ASC'} LIMIT ?`;
  const rows = prepare(sql)
    .all(pk, ...range.bounds, limit)
    .map(toRow);
  const last = rows.length === limit ? rows.at(-1) : undefined;
  return last === undefined ? { rows } : { rows, next: last.sk };
}

interface KeyRange {
  readonly lower: string;
  readonly upper: string;
  readonly bounds: readonly [string, string];
}

// One bound on each side: SQLite seeks with a single one, and would walk over the rest of the partition for a second.
function rangeUp(prefix: string, after: string | undefined): KeyRange {
  const upper = `sk < ${AFTER_PREFIX}`;
  if (after === undefined || compareKeys(after, prefix) < 0) {
    return { lower: 'sk >= ?', upper, bounds: [prefix, prefix] };
  }
  return { lower: 'sk > ?', upper, bounds: [after, prefix] };
}

function rangeDown(prefix: string, after: string | undefined): KeyRange {
  const beyond = after === undefined || (compareKeys(after, prefix) > 0 && !after.startsWith(prefix));
  return beyond
    ? { lower: 'sk >= ?', upper: `sk < ${AFTER_PREFIX}`, bounds: [prefix, prefix] }
    : { lower: 'sk >= ?', upper: 'sk < ?', bounds: [prefix, after] };
}

function toRow(found: unknown): Row {
  const { pk, sk, version, data, bytes, expires_at } = storedRowSchema.parse(found);
  return {
    pk,
    sk,
    version,
    data: JSON.parse(data),
    ...(bytes !== null && { bytes }),
    ...(expires_at !== null && { expires_at }),
  };
}
