import { S3Client } from '@aws-sdk/client-s3';
import { OBJECT_CLIENT_OPTIONS } from '../../../shared/adapters/aws/client-options.ts';

const clients = new Map<string | undefined, S3Client>();

/**
 * One client a Region and process.
 * @param region undefined: that of the function.
 */
export function s3Client(region?: string): S3Client {
  const known = clients.get(region);
  if (known !== undefined) return known;
  const client = new S3Client({
    ...OBJECT_CLIENT_OPTIONS,
    ...(region === undefined ? {} : { region }),
    // Names of buckets resolve in front of Amazon's own host only.
    forcePathStyle: Boolean(process.env.AWS_ENDPOINT_URL_S3 || process.env.AWS_ENDPOINT_URL),
  });
  clients.set(region, client);
  return client;
}
