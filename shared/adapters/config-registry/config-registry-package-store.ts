import { LIMITS } from '../../contracts/limits.ts';
import { sizeText } from '../../contracts/size-text.ts';
import { CognitionError } from '../../domain/cognition-error.ts';
import type { SkillPackageStore } from '../../ports/skill-package-store.ts';
import type { TableStore } from '../../ports/table-store.ts';
import { createBlobRows } from '../../services/blob-rows.ts';

/** Packages in the table itself, in chunks: the `config_registry` backend, for simple deployments. */
export function createConfigRegistryPackageStore({
  table,
}: {
  readonly table: TableStore;
}): SkillPackageStore {
  const blobs = createBlobRows({ table });
  const owner = (fingerprint: string, digest: string): string => `package#${fingerprint}#${digest}`;
  return {
    backend: 'config_registry',
    max_bytes: LIMITS.configRegistryPackageBytes,
    put: async (fingerprint, digest, bytes) => {
      if (bytes.byteLength > LIMITS.configRegistryPackageBytes) {
        throw new CognitionError(
          'body_too_large',
          `a package is at most ${sizeText(LIMITS.configRegistryPackageBytes)} with the config_registry backend; this one has ${bytes.byteLength}`,
        );
      }
      const stored = await blobs.get(owner(fingerprint, digest));
      if (stored !== undefined && Buffer.compare(stored, bytes) === 0) return;
      await blobs.put(owner(fingerprint, digest), bytes);
    },
    fetch: (fingerprint, digest) => blobs.get(owner(fingerprint, digest)),
    exists: (fingerprint, digest) => blobs.exists(owner(fingerprint, digest)),
    delete: (fingerprint, digest) => blobs.delete(owner(fingerprint, digest)),
    // No package of this backend is above the response limit.
    downloadUrl: async () => undefined,
  };
}
