import { LIMITS } from '../../contracts/limits.ts';
import { CognitionError } from '../../domain/cognition-error.ts';
import { sha256Hex } from '../../domain/sha256.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ObjectStore } from '../../ports/object-store.ts';
import type { BytesOrDownload } from '../commit-with.ts';

export interface StoredBytes {
  readonly key: string;
  readonly sha256: string;
  readonly size_bytes: number;
  readonly content_type: string;
  readonly file_name: string;
}

/**
 * The bytes of an object, verified, or where to fetch them when they are above the response limit.
 * @returns undefined when the object is gone.
 * @throws CognitionError `digest_mismatch`
 */
export async function bytesOrDownload(
  { objects, clock }: { readonly objects: ObjectStore; readonly clock: Clock },
  { key, sha256, size_bytes, content_type, file_name }: StoredBytes,
): Promise<BytesOrDownload | undefined> {
  if (size_bytes > LIMITS.responseBodyBytes) {
    if ((await objects.head(key)) === undefined) return undefined;
    const seconds = LIMITS.downloadUrlSeconds;
    const download_url = await objects.downloadUrl(key, { seconds, content_type, file_name });
    const expires_at = new Date(clock.now() + seconds * 1_000).toISOString();
    return { kind: 'download', download_url, expires_at, sha256, size_bytes };
  }
  const bytes = await objects.get(key);
  if (bytes === undefined) return undefined;
  if (sha256Hex(bytes) !== sha256) {
    throw new CognitionError('digest_mismatch', 'the stored bytes have another hash and are not served');
  }
  return { kind: 'bytes', bytes, sha256, content_type };
}
