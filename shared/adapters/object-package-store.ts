import { LIMITS } from '../contracts/limits.ts';
import { sizeText } from '../contracts/size-text.ts';
import { CognitionError } from '../domain/cognition-error.ts';
import { OBJECT_KEYS } from '../domain/row-keys.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import type { PackageBackend, SkillPackageStore } from '../ports/skill-package-store.ts';

export interface ObjectPackageStoreOptions {
  readonly objects: ObjectStore;
  /** Which of the operator's choices this is: only its name differs. */
  readonly backend: Exclude<PackageBackend, 'config_registry'>;
  /** Default: LIMITS.packageBytes. */
  readonly max_bytes?: number;
}

/** One object a package, in a bucket or a folder; its checksum is the digest. */
export function createObjectPackageStore(options: ObjectPackageStoreOptions): SkillPackageStore {
  const { objects, backend, max_bytes = LIMITS.packageBytes } = options;
  const put = async (fingerprint: string, digest: string, bytes: Uint8Array): Promise<void> => {
    if (bytes.byteLength > max_bytes) {
      throw new CognitionError(
        'body_too_large',
        `a package is at most ${sizeText(max_bytes)}; this one has ${bytes.byteLength}`,
      );
    }
    const key = OBJECT_KEYS.package(fingerprint, digest);
    const object = { key, bytes, sha256: digest.replace('sha256:', '') };
    if ((await objects.put(object)) === 'written') return;
    const stored = await objects.get(key);
    if (stored === undefined || Buffer.compare(stored, bytes) !== 0) await objects.replace(object);
  };
  return {
    backend,
    max_bytes,
    put,
    fetch: (fingerprint, digest) => objects.get(OBJECT_KEYS.package(fingerprint, digest)),
    exists: async (fingerprint, digest) =>
      (await objects.head(OBJECT_KEYS.package(fingerprint, digest))) !== undefined,
    delete: (fingerprint, digest) => objects.delete(OBJECT_KEYS.package(fingerprint, digest)),
    downloadUrl: (fingerprint, digest, fileName) =>
      objects.downloadUrl(OBJECT_KEYS.package(fingerprint, digest), {
        seconds: LIMITS.downloadUrlSeconds,
        content_type: 'application/octet-stream',
        file_name: fileName,
      }),
  };
}
