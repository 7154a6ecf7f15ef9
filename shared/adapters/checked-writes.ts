/**
 * What every TableStore refuses before it touches its storage. The bounds are DynamoDB's, held everywhere so that
 * what a laptop stores fits in AWS too.
 */
import { CognitionError } from '../domain/cognition-error.ts';
import type { RowKey, Write } from '../ports/table-store.ts';

const PARTITION_KEY_BYTES = 2_048;
const SORT_KEY_BYTES = 1_024;
const WRITES = 100;
const BLOB_BYTES = 350_000;
/** Of 400 KB, less what attribute names and the version take. */
const ROW_BYTES = 400_000;
const TRANSACTION_BYTES = 4_000_000;

export type CheckedWrite = { readonly write: Write; readonly json: string };

/** True when a row could have this key; reads of any other key find nothing. */
export function isStorableKey({ pk, sk }: RowKey): boolean {
  return isKeyPart(pk, PARTITION_KEY_BYTES) && isKeyPart(sk, SORT_KEY_BYTES);
}

/**
 * Serializes the data at once, so that a later change of the caller's objects changes nothing.
 * @throws RangeError for what only a mistake of ours asks; CognitionError `body_too_large` for rows that callers fill.
 */
export function checkWrites(writes: readonly Write[]): CheckedWrite[] {
  if (writes.length < 1 || writes.length > WRITES) {
    throw new RangeError(`a transaction has 1 to ${WRITES} writes, not ${writes.length}`);
  }
  const keys = new Set<string>();
  let total = 0;
  return writes.map((write) => {
    const { pk, sk } = write.key;
    if (!isStorableKey(write.key)) {
      throw new RangeError(`not a storable key: ${JSON.stringify(write.key).slice(0, 200)}`);
    }
    const identity = JSON.stringify([pk, sk]);
    if (keys.has(identity)) throw new RangeError(`a transaction writes ${pk} ${sk} twice`);
    keys.add(identity);
    const json = write.kind === 'put' ? JSON.stringify(write.data) : '';
    if (write.kind === 'put') total += checkPut(write, json);
    if (total > TRANSACTION_BYTES) {
      throw new CognitionError('body_too_large', `a transaction writes at most ${TRANSACTION_BYTES} bytes`);
    }
    return { write, json };
  });
}

function isKeyPart(part: string, maxBytes: number): boolean {
  return part !== '' && part.isWellFormed() && Buffer.byteLength(part, 'utf8') <= maxBytes;
}

function checkPut(write: Extract<Write, { kind: 'put' }>, json: string): number {
  const blob = write.bytes?.byteLength ?? 0;
  if (blob > BLOB_BYTES) throw new RangeError(`a row has at most ${BLOB_BYTES} bytes, not ${blob}`);
  if (write.expires_at !== undefined && !Number.isSafeInteger(write.expires_at)) {
    throw new RangeError(`expires_at is in whole seconds, not ${write.expires_at}`);
  }
  const size = Buffer.byteLength(json, 'utf8') + blob;
  if (size > ROW_BYTES) {
    throw new CognitionError(
      'body_too_large',
      `a record takes at most ${ROW_BYTES} bytes; this one has ${size}: shorten its texts`,
    );
  }
  return size;
}
