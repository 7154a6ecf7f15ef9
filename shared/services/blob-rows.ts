/**
 * Bytes in the table, in rows small enough for it. Up to one chunk they lie in the head row itself; else in chunk
 * rows named by the hash of the whole, which the head row, written last, makes visible. A reader sees the old bytes
 * or the new ones, and two writers of the same bytes write the same rows.
 *
 * Chunks are written and deleted each on its own: DynamoDB charges a transaction double for every kilobyte in it, and
 * one partition takes in no more than about three chunks a second for long.
 */
import * as z from 'zod';
import { sha256Schema } from '../contracts/names.ts';
import { KEYS } from '../domain/row-keys.ts';
import { sha256Hex } from '../domain/sha256.ts';
import { TransientError } from '../domain/transient-error.ts';
import {
  type Condition,
  ConditionFailed,
  type Row,
  type RowKey,
  type TableStore,
  type Write,
} from '../ports/table-store.ts';

const CHUNK_BYTES = 300_000;
/** Together with the head within one transaction of any table. */
const CHUNKS_A_TRANSACTION = 10;
const DELETED_AT_ONCE = 10;
const ATTEMPTS = 5;
const HEAD = 'head';

export interface BlobOptions {
  /** Unix seconds, of every row. */
  readonly expires_at?: number;
}

export interface BlobRows {
  /** Replaces what the owner has. @throws TransientError when other writers of the owner do not let it through. */
  put(owner: string, bytes: Uint8Array, options?: BlobOptions): Promise<void>;
  /** The bytes as stored, not verified; undefined when absent, or when a part of them was lost. */
  get(owner: string): Promise<Uint8Array | undefined>;
  exists(owner: string): Promise<boolean>;
  /** No error when absent. Also removes what a writer that died has left. */
  delete(owner: string): Promise<void>;
}

const headSchema = z.object({ sha256: sha256Schema, size_bytes: z.int(), chunks: z.int() });
type Head = z.infer<typeof headSchema>;

export function createBlobRows({ table }: { readonly table: TableStore }): BlobRows {
  return {
    put: (owner, bytes, options) => putBlob(table, owner, bytes, options),
    get: (owner) => getBlob(table, owner),
    exists: async (owner) => (await table.get(headKey(owner))) !== undefined,
    delete: (owner) => deleteBlob(table, owner),
  };
}

/**
 * The same as writes of a transaction of the caller's, for an owner that is written once: at most 3,000,000 bytes.
 * `if` is the condition of the head row.
 */
export function blobWrites(
  owner: string,
  bytes: Uint8Array,
  options: BlobOptions & { readonly if?: Condition } = {},
): Write[] {
  const sha256 = sha256Hex(bytes);
  const chunks = chunkWrites(owner, sha256, bytes, options);
  if (chunks.length > CHUNKS_A_TRANSACTION) {
    throw new RangeError(`${bytes.byteLength} bytes are too many for one transaction`);
  }
  return [...chunks, headWrite(owner, sha256, bytes, options)];
}

const headKey = (owner: string): RowKey => ({ pk: KEYS.blob(owner), sk: HEAD });
const chunkPrefix = (sha256: string): string => `chunk#${sha256}#`;
const chunkKey = (owner: string, sha256: string, index: number): RowKey => ({
  pk: KEYS.blob(owner),
  sk: `${chunkPrefix(sha256)}${String(index).padStart(6, '0')}`,
});

/** Written when all chunks are there, deleted before any of them: what a head checks in place of them all. */
const WHOLE = '!whole';
const wholeKey = (owner: string, sha256: string): RowKey => ({
  pk: KEYS.blob(owner),
  sk: `${chunkPrefix(sha256)}${WHOLE}`,
});

function chunkWrites(owner: string, sha256: string, bytes: Uint8Array, options: BlobOptions): Write[] {
  const count = chunkCount(bytes);
  return Array.from({ length: count }, (_, index) => ({
    kind: 'put',
    key: chunkKey(owner, sha256, index),
    data: {},
    bytes: bytes.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES),
    ...expiry(options),
  }));
}

function headWrite(
  owner: string,
  sha256: string,
  bytes: Uint8Array,
  options: BlobOptions & { readonly if?: Condition },
): Write {
  const chunks = chunkCount(bytes);
  return {
    kind: 'put',
    key: headKey(owner),
    data: { sha256, size_bytes: bytes.byteLength, chunks } satisfies Head,
    ...(chunks === 0 && { bytes }),
    ...expiry(options),
    ...(options.if !== undefined && { if: options.if }),
  };
}

const chunkCount = (bytes: Uint8Array): number =>
  bytes.byteLength <= CHUNK_BYTES ? 0 : Math.ceil(bytes.byteLength / CHUNK_BYTES);

const expiry = ({ expires_at }: BlobOptions): BlobOptions => (expires_at === undefined ? {} : { expires_at });

async function putBlob(
  table: TableStore,
  owner: string,
  bytes: Uint8Array,
  options: BlobOptions = {},
): Promise<void> {
  const sha256 = sha256Hex(bytes);
  const chunks = chunkWrites(owner, sha256, bytes, options);
  const whole = wholeKey(owner, sha256);
  // A deletion or another writer's clean-up may remove chunks before the head names them.
  const checks: Write[] = chunks.length === 0 ? [] : [{ kind: 'check', key: whole, if: { present: true } }];
  const wanted = { ...options, sha256 };
  let chunksMissing = chunks.length > 0;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const old = await table.get(headKey(owner));
    // Another writer of the same bytes was faster.
    if (attempt > 0 && !chunksMissing && isHeadOf(old, wanted)) return;
    if (chunksMissing) {
      await writeEach(table, chunks);
      await table.transact([{ kind: 'put', key: whole, data: {}, ...expiry(options) }]);
    }
    const unchanged: Condition = old === undefined ? { absent: true } : { version: old.version };
    try {
      await table.transact([headWrite(owner, sha256, bytes, { ...options, if: unchanged }), ...checks]);
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      chunksMissing = error.failed.some((index) => index > 0);
      continue;
    }
    await dropReplaced(table, owner, old, sha256);
    return;
  }
  throw new TransientError(`other writers of the blob ${owner} were faster ${ATTEMPTS} times`);
}

function isHeadOf(row: Row | undefined, wanted: BlobOptions & { readonly sha256: string }): boolean {
  return (
    row !== undefined &&
    headSchema.parse(row.data).sha256 === wanted.sha256 &&
    row.expires_at === wanted.expires_at
  );
}

/** Nothing is under way when this returns. */
async function writeEach(table: TableStore, writes: readonly Write[]): Promise<void> {
  const outcomes = await Promise.allSettled(writes.map((write) => table.transact([write])));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

async function dropReplaced(
  table: TableStore,
  owner: string,
  old: Row | undefined,
  sha256: string,
): Promise<void> {
  if (old === undefined) return;
  const head = headSchema.parse(old.data);
  if (head.sha256 !== sha256 && head.chunks > 0) await deleteRows(table, owner, chunkPrefix(head.sha256));
}

async function getBlob(table: TableStore, owner: string): Promise<Uint8Array | undefined> {
  let incomplete: string | undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const row = await table.get(headKey(owner));
    // Chunks are gone while a writer replaces the blob, but then the head is another; under the same one they are lost.
    if (row === undefined || row.version === incomplete) return undefined;
    const head = headSchema.parse(row.data);
    if (head.chunks === 0) return row.bytes ?? new Uint8Array(0);
    const bytes = await readChunks(table, owner, head);
    if (bytes?.byteLength === head.size_bytes) return bytes;
    incomplete = row.version;
  }
  throw new TransientError(`the blob ${owner} was replaced ${ATTEMPTS} times while it was read`);
}

/** All at once: a page of a query has room for three. */
async function readChunks(
  table: TableStore,
  owner: string,
  { sha256, chunks }: Head,
): Promise<Uint8Array | undefined> {
  const keys = Array.from({ length: chunks }, (_, index) => chunkKey(owner, sha256, index));
  const rows = await Promise.all(keys.map((key) => table.get(key)));
  const parts = rows.flatMap((row) => (row?.bytes === undefined ? [] : [row.bytes]));
  return parts.length === chunks ? Buffer.concat(parts) : undefined;
}

async function deleteBlob(table: TableStore, owner: string): Promise<void> {
  await table.transact([{ kind: 'delete', key: headKey(owner) }]);
  await deleteRows(table, owner, '');
}

async function deleteRows(table: TableStore, owner: string, prefix: string): Promise<void> {
  for (;;) {
    // Small pages: each row brings its bytes along.
    const { rows, next } = await table.query(KEYS.blob(owner), { prefix, limit: DELETED_AT_ONCE });
    const [marks, others] = [true, false].map((isMark) =>
      rows
        .filter(({ sk }) => sk.endsWith(WHOLE) === isMark)
        .map(({ pk, sk }): Write => ({ kind: 'delete', key: { pk, sk } })),
    );
    await writeEach(table, marks ?? []);
    await writeEach(table, others ?? []);
    if (next === undefined) return;
  }
}
