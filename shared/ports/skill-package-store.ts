/**
 * Package bytes by trusted scope and digest, content-oriented and never facing an agent. The operator
 * chooses one backend. test/contract/skill-package-store.contract.ts is its suite.
 */
export type PackageBackend = 'config_registry' | 's3' | 'filesystem';

export interface SkillPackageStore {
  readonly backend: PackageBackend;
  /** Largest canonical package it takes, in bytes. */
  readonly max_bytes: number;
  /**
   * Idempotent. When an object is there already its bytes are compared: equal is fine, different ones are
   * replaced by these, which the caller has hashed.
   * @throws TransientError; CognitionError `storage_full`, `body_too_large`.
   */
  put(fingerprint: string, digest: string, bytes: Uint8Array): Promise<void>;
  /** Not verified: callers hash. Undefined when absent. @throws TransientError. */
  fetch(fingerprint: string, digest: string): Promise<Uint8Array | undefined>;
  exists(fingerprint: string, digest: string): Promise<boolean>;
  /** No error when absent. */
  delete(fingerprint: string, digest: string): Promise<void>;
  /** For answers above the response limit; undefined where packages are never that large. */
  downloadUrl(fingerprint: string, digest: string, fileName: string): Promise<string | undefined>;
}
