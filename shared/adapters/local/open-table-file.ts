/** Opens the one file of the local table: made when missing, refused when it is not ours or in use. */
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import * as z from 'zod';
import { CognitionError } from '../../domain/cognition-error.ts';
import { TransientError } from '../../domain/transient-error.ts';
import { sqliteFailure } from './sqlite-failure.ts';

const SCHEMA_VERSION = 1;
const PAGE_BYTES = 4_096;
/** A server that restarts may meet the last moments of its predecessor. */
const BUSY_MS = 1_000;

/**
 * TEXT compares as UTF-8 bytes. Expiry has an index of its own, so that a purge reads no row that stays.
 * `locking_mode` comes before the first read: then the log's index is in memory, and the lock is the process's own,
 * which the kernel takes back however the process ends.
 */
const SETUP = `
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA journal_size_limit = 16777216;
  PRAGMA cache_size = -16384;
  PRAGMA temp_store = MEMORY;
  BEGIN IMMEDIATE;
  CREATE TABLE IF NOT EXISTS rows (
    pk TEXT NOT NULL,
    sk TEXT NOT NULL,
    version TEXT NOT NULL,
    data TEXT NOT NULL,
    bytes BLOB,
    expires_at INTEGER,
    PRIMARY KEY (pk, sk)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS rows_by_expiry ON rows (expires_at) WHERE expires_at IS NOT NULL;
  PRAGMA user_version = ${SCHEMA_VERSION};
  COMMIT;
`;

const versionSchema = z.object({ user_version: z.int() });

/** @throws CognitionError, of which an operator is shown the message. */
export function openTableFile(path: string, maxBytes?: number): DatabaseSync {
  createPrivateFile(path);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: BUSY_MS });
    refuseOtherSchema(database, path);
    database.exec(SETUP);
    if (maxBytes !== undefined) {
      database.exec(`PRAGMA max_page_count = ${Math.max(1, Math.floor(maxBytes / PAGE_BYTES))}`);
    }
    return database;
  } catch (error) {
    database?.close();
    const failure = sqliteFailure(error, path);
    if (!(failure instanceof TransientError)) throw failure;
    throw new CognitionError(
      'conflict',
      `${failure.message}: stop that server, or choose another COGNITION_DATA_DIR`,
      { cause: error },
    );
  }
}

/**
 * The rows hold keys of sandboxes. Never opened when it is there already: closing any descriptor of the file would
 * drop the locks of a store that this process has open on it.
 */
function createPrivateFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
}

function refuseOtherSchema(database: DatabaseSync, path: string): void {
  const { user_version: found } = versionSchema.parse(database.prepare('PRAGMA user_version').get());
  const empty = database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
  if (found === SCHEMA_VERSION || (found === 0 && empty)) return;
  throw new CognitionError(
    'internal_error',
    `${path} is not a table of this version (schema ${found}, expected ${SCHEMA_VERSION}): choose another COGNITION_DATA_DIR`,
  );
}
