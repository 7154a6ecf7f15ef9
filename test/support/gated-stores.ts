import type { SkillPackageStore } from '../../shared/ports/skill-package-store.ts';
import type { TableStore } from '../../shared/ports/table-store.ts';
import type { Step } from './interleavings.ts';

export const gatedTable = (table: TableStore, step: Step): TableStore => ({
  get: (key) => step(() => table.get(key)),
  query: (pk, options) => step(() => table.query(pk, options)),
  transact: (writes) => step(() => table.transact(writes)),
});

export const gatedPackages = (packages: SkillPackageStore, step: Step): SkillPackageStore => ({
  backend: packages.backend,
  max_bytes: packages.max_bytes,
  put: (...object) => step(() => packages.put(...object)),
  fetch: (...object) => step(() => packages.fetch(...object)),
  exists: (...object) => step(() => packages.exists(...object)),
  delete: (...object) => step(() => packages.delete(...object)),
  downloadUrl: (...object) => packages.downloadUrl(...object),
});

/** Package bytes in memory; each call is one step. */
export function memoryPackages(): SkillPackageStore {
  const stored = new Map<string, Uint8Array>();
  const key = (fingerprint: string, digest: string): string => `${fingerprint}#${digest}`;
  return {
    backend: 'filesystem',
    max_bytes: 1_000_000,
    put: async (fingerprint, digest, bytes) => {
      stored.set(key(fingerprint, digest), bytes);
    },
    fetch: async (fingerprint, digest) => stored.get(key(fingerprint, digest)),
    exists: async (fingerprint, digest) => stored.has(key(fingerprint, digest)),
    delete: async (fingerprint, digest) => {
      stored.delete(key(fingerprint, digest));
    },
    downloadUrl: async () => undefined,
  };
}
