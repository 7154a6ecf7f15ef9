import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { LIMITS } from '../../contracts/limits.ts';
import type { ObjectStore } from '../../ports/object-store.ts';
import { attachmentOf } from '../attachment.ts';

/**
 * A URL that anyone can GET; it ends with the credentials that signed it, if they end first.
 * @throws RangeError for a life longer than LIMITS.downloadUrlSeconds.
 */
export async function signDownload(
  client: S3Client,
  place: { readonly Bucket: string; readonly Key: string },
  { seconds, content_type, file_name }: Parameters<ObjectStore['downloadUrl']>[1],
): Promise<string> {
  if (!(seconds > 0 && seconds <= LIMITS.downloadUrlSeconds)) {
    throw new RangeError(`a download URL lives up to ${LIMITS.downloadUrlSeconds} seconds, not ${seconds}`);
  }
  const command = new GetObjectCommand({
    ...place,
    ResponseContentType: content_type,
    ResponseContentDisposition: attachmentOf(file_name),
    ResponseCacheControl: 'no-store',
  });
  return getSignedUrl(client, command, { expiresIn: Math.ceil(seconds) });
}
