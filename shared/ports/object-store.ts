/** Immutable objects by key: S3, or a folder. test/contract/object-store.contract.ts is its suite. */

export interface ObjectInfo {
  readonly key: string;
  readonly size_bytes: number;
  /** RFC 3339. */
  readonly written_at: string;
}

export interface PutObject {
  readonly key: string;
  readonly bytes: Uint8Array;
  /** Lower hex; the store checks it on the way in. */
  readonly sha256: string;
  readonly content_type?: string;
}

export interface ObjectStore {
  /**
   * Put if absent. `exists` means that the key was there before, whatever its bytes.
   * @throws TransientError; CognitionError `storage_full`.
   */
  put(object: PutObject): Promise<'written' | 'exists'>;
  /** Replaces what is there; only for repair of an object whose bytes are not what its key says. */
  replace(object: PutObject): Promise<void>;
  /** The whole object, undefined when absent. The bytes are not verified: callers compare hashes. */
  get(key: string): Promise<Uint8Array | undefined>;
  head(key: string): Promise<ObjectInfo | undefined>;
  /** No error when absent. */
  delete(key: string): Promise<void>;
  /** By prefix in key order, a page at a time. */
  list(prefix: string, after?: string): Promise<{ objects: readonly ObjectInfo[]; next?: string }>;
  /** A URL anyone can GET once or more until it expires; `seconds` at most 60. */
  downloadUrl(
    key: string,
    options: { seconds: number; content_type: string; file_name: string },
  ): Promise<string>;
}
