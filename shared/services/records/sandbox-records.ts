import { type SandboxRow, sandboxKeyRowSchema, sandboxRowSchema } from '../../contracts/rows.ts';
import type { RunRef } from '../../contracts/workflow.ts';
import { KEYS } from '../../domain/row-keys.ts';
import type { Condition, TableStore, Write } from '../../ports/table-store.ts';
import { readAll } from './read-all.ts';
import { rowData } from './row-data.ts';

export interface StoredSandbox {
  readonly row: SandboxRow;
  readonly version: string;
}

/** Rows of sandboxes: the one of a run, those waiting in a pool, and their private keys. */
export interface SandboxRecords {
  get(run: RunRef): Promise<StoredSandbox | undefined>;
  /** @param expiresAt Unix seconds. */
  write(run: RunRef, row: SandboxRow, condition: Condition, expiresAt: number): Write;
  getKey(sandboxId: string): Promise<string | undefined>;
  /** @param expiresAt Unix seconds: no key outlives this, whatever crashed. */
  writeKey(sandboxId: string, privateKey: string, expiresAt: number): Write;
  deleteKey(sandboxId: string): Write;
  getPooled(profile: string, imageIdentity: string, sandboxId: string): Promise<StoredSandbox | undefined>;
  listPooled(profile: string, imageIdentity: string): Promise<StoredSandbox[]>;
  writePooled(row: SandboxRow, expiresAt: number): Write;
  deletePooled(row: SandboxRow, condition?: Condition): Write;
}

export function createSandboxRecords(table: TableStore): SandboxRecords {
  const pooledKey = (row: SandboxRow) => KEYS.pooled(row.profile, row.image_identity, row.sandbox_id);
  const parse = (row: { data: unknown; version: string }): StoredSandbox => ({
    row: sandboxRowSchema.parse(row.data),
    version: row.version,
  });
  return {
    async get({ fingerprint, run_id }) {
      const row = await table.get(KEYS.sandbox(fingerprint, run_id));
      return row && parse(row);
    },
    write: ({ fingerprint, run_id }, row, condition, expiresAt) => ({
      kind: 'put',
      key: KEYS.sandbox(fingerprint, run_id),
      data: rowData(row),
      expires_at: expiresAt,
      if: condition,
    }),
    async getKey(sandboxId) {
      const row = await table.get(KEYS.sandboxKey(sandboxId));
      return row && sandboxKeyRowSchema.parse(row.data).private_key;
    },
    writeKey: (sandboxId, privateKey, expiresAt) => ({
      kind: 'put',
      key: KEYS.sandboxKey(sandboxId),
      data: { sandbox_id: sandboxId, private_key: privateKey },
      expires_at: expiresAt,
      if: { absent: true },
    }),
    deleteKey: (sandboxId) => ({ kind: 'delete', key: KEYS.sandboxKey(sandboxId) }),
    async getPooled(profile, imageIdentity, sandboxId) {
      const row = await table.get(KEYS.pooled(profile, imageIdentity, sandboxId));
      return row && parse(row);
    },
    async listPooled(profile, imageIdentity) {
      return (await readAll(table, KEYS.pools(profile, imageIdentity))).map(parse);
    },
    writePooled: (row, expiresAt) => ({
      kind: 'put',
      key: pooledKey(row),
      data: rowData(row),
      expires_at: expiresAt,
      if: { absent: true },
    }),
    deletePooled: (row, condition) => ({
      kind: 'delete',
      key: pooledKey(row),
      ...(condition === undefined ? {} : { if: condition }),
    }),
  };
}
