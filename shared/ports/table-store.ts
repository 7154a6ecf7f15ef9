/**
 * One table of JSON rows with optimistic concurrency. DynamoDB and SQLite implement it and pass
 * test/contract/table-store.contract.ts; every repository is written once on top.
 */
import type { z } from 'zod';

export interface RowKey {
  readonly pk: string;
  readonly sk: string;
}

export type JsonValue = z.core.util.JSONType;

export interface Row extends RowKey {
  /** Opaque, new at every write, never seen before: safe as an ETag and against ABA. */
  readonly version: string;
  readonly data: JsonValue;
  /** For chunked blobs, at most 350,000 bytes. */
  readonly bytes?: Uint8Array;
  /** Unix seconds. The store may drop the row at any time after; readers who care must check. */
  readonly expires_at?: number;
}

export type Condition = { readonly absent: true } | { readonly present: true } | { readonly version: string };

export type Write =
  | {
      readonly kind: 'put';
      readonly key: RowKey;
      readonly data: JsonValue;
      readonly bytes?: Uint8Array;
      readonly expires_at?: number;
      readonly if?: Condition;
    }
  | { readonly kind: 'delete'; readonly key: RowKey; readonly if?: Condition }
  | { readonly kind: 'check'; readonly key: RowKey; readonly if: Condition };

export interface QueryOptions {
  /** Only sort keys that begin with this. */
  readonly prefix?: string;
  /** Sort keys after this one (exclusive), in the direction of the query. */
  readonly after?: string;
  /** 1 to 1,000; default 100. */
  readonly limit?: number;
  readonly descending?: boolean;
}

export interface QueryResult {
  readonly rows: readonly Row[];
  /** The last sort key when there may be more: pass it as `after`. */
  readonly next?: string;
}

export interface TableStore {
  /** Strongly consistent. */
  get(key: RowKey): Promise<Row | undefined>;
  /** Strongly consistent, ordered by the sort key's UTF-8 bytes. */
  query(pk: string, options?: QueryOptions): Promise<QueryResult>;
  /**
   * All or nothing, 1 to 100 writes, no key twice. Returns the new version of each put, in order of the
   * writes (undefined for delete and check).
   * @throws ConditionFailed when a condition does not hold; TransientError when the store is busy;
   *   CognitionError `storage_full` when the disk is.
   */
  transact(writes: readonly Write[]): Promise<readonly (string | undefined)[]>;
}

/** A condition of a transaction did not hold; `failed` are the indexes of the writes whose condition it was. */
export class ConditionFailed extends Error {
  override readonly name = 'ConditionFailed';
  readonly failed: readonly number[];

  constructor(failed: readonly number[], options?: ErrorOptions) {
    super(`the condition of write ${failed.join(', ')} did not hold`, options);
    this.failed = failed;
  }
}
