import { LRUCache } from 'lru-cache';
import { decodePackage, type PackageEntry, packageDigest } from '../domain/canonical-package.ts';
import { CognitionError } from '../domain/cognition-error.ts';
import { isExecutable } from '../domain/package/is-executable.ts';
import { sha256Hex } from '../domain/sha256.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { SkillPackageStore } from '../ports/skill-package-store.ts';

interface IndexedFile {
  readonly path: string;
  readonly size_bytes: number;
  /** Lower hex, of the content. */
  readonly sha256: string;
  /** The content begins with `#!`. */
  readonly executable: boolean;
}

/** Reads stored packages. Nothing leaves here whose SHA-256 is not the digest it was asked for. */
export interface PackageReader {
  /** The files of a package in canonical order; kept in memory once read. */
  index(fingerprint: string, digest: string): Promise<readonly IndexedFile[]>;
  /** Canonical bytes. @throws CognitionError `package_unavailable`, `digest_mismatch`; TransientError. */
  bytes(fingerprint: string, digest: string): Promise<Uint8Array>;
  /** As `bytes`, split into files that share its memory. */
  entries(fingerprint: string, digest: string): Promise<readonly PackageEntry[]>;
}

export interface PackageReaderDeps {
  readonly packages: SkillPackageStore;
  readonly metrics: Metrics;
  /** Bytes of memory for indexes, roughly; default 16 MiB. */
  readonly cacheBytes?: number;
}

/** What a cached file costs beside its path: object, hash, list slot. */
const INDEXED_FILE_BYTES = 256;

export function createPackageReader({
  packages,
  metrics,
  cacheBytes = 16 * 1024 * 1024,
}: PackageReaderDeps): PackageReader {
  const bytes = async (fingerprint: string, digest: string): Promise<Uint8Array> => {
    const found = await packages.fetch(fingerprint, digest);
    if (found === undefined) {
      throw new CognitionError(
        'package_unavailable',
        `the package ${digest} is not in the package store; publish the same files again with PUT to restore it`,
      );
    }
    if (packageDigest(found) !== digest) {
      throw new CognitionError(
        'digest_mismatch',
        `the stored bytes of the package ${digest} have another hash and are not served; publish the same files again with PUT to repair it`,
      );
    }
    return found;
  };
  const entries = async (fingerprint: string, digest: string): Promise<readonly PackageEntry[]> =>
    decodePackage(await bytes(fingerprint, digest));

  // The key holds both, so that a hit can never cross scopes even where two scopes store equal bytes.
  const indexes = new LRUCache<string, readonly IndexedFile[], { fingerprint: string; digest: string }>({
    maxSize: cacheBytes,
    sizeCalculation: (files) =>
      files.reduce((sum, file) => sum + INDEXED_FILE_BYTES + file.path.length * 2, INDEXED_FILE_BYTES),
    fetchMethod: async (_key, _stale, { context }) =>
      (await entries(context.fingerprint, context.digest)).map(toIndexedFile),
  });

  return {
    bytes,
    entries,
    index: (fingerprint, digest) => {
      const key = `${fingerprint}#${digest}`;
      const name = indexes.has(key) ? 'PackageCacheHits' : 'PackageCacheMisses';
      metrics.add({ name, backend: packages.backend });
      return indexes.forceFetch(key, { context: { fingerprint, digest } });
    },
  };
}

function toIndexedFile({ path, content }: PackageEntry): IndexedFile {
  return {
    path,
    size_bytes: content.byteLength,
    sha256: sha256Hex(content),
    executable: isExecutable(content),
  };
}
