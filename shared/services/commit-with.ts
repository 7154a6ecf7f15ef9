import type { Write } from '../ports/table-store.ts';

/**
 * Writes to commit in the same transaction as the work itself, built from its result: the idempotency record
 * of a request. A condition of theirs that fails surfaces as ConditionFailed, and the work has not happened.
 */
export type CommitWith<T> = (result: T) => readonly Write[];

/** An ETag without quotes; `if_none_match` is `If-None-Match: *`. */
export interface Preconditions {
  readonly if_match?: string;
  readonly if_none_match?: boolean;
}

export interface Versioned<T> {
  readonly value: T;
  /** Without quotes; new at every write. */
  readonly etag: string;
}

/** Exact bytes, or where to fetch them when they are above the response limit. */
export type BytesOrDownload =
  | {
      readonly kind: 'bytes';
      readonly bytes: Uint8Array;
      readonly sha256: string;
      readonly content_type: string;
    }
  | {
      readonly kind: 'download';
      readonly download_url: string;
      readonly expires_at: string;
      readonly sha256: string;
      readonly size_bytes: number;
    };
