import { ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3';
import * as z from 'zod';
import type { ObjectInfo } from '../../ports/object-store.ts';

const PAGE = 1_000;

const pageSchema = z.object({
  IsTruncated: z.boolean().default(false),
  Contents: z.array(z.object({ Key: z.string(), Size: z.int().min(0), LastModified: z.date() })).default([]),
});

/** One page in key order, without what the keys of this store begin with in the bucket. */
export async function listObjects(
  { client, bucket, prefix }: { readonly client: S3Client; readonly bucket: string; readonly prefix: string },
  { below, after }: { readonly below: string; readonly after: string | undefined },
  abortSignal: AbortSignal,
): Promise<{ objects: readonly ObjectInfo[]; next?: string }> {
  const command = new ListObjectsV2Command({
    Bucket: bucket,
    Prefix: `${prefix}${below}`,
    MaxKeys: PAGE,
    // By key, not by S3's token: the page goes on also when the process that read the last one is gone.
    ...(after !== undefined && { StartAfter: `${prefix}${after}` }),
  });
  const { Contents, IsTruncated } = pageSchema.parse(await client.send(command, { abortSignal }));
  const objects = Contents.map(({ Key, Size, LastModified }) => ({
    key: Key.slice(prefix.length),
    size_bytes: Size,
    written_at: LastModified.toISOString(),
  }));
  const next = IsTruncated ? objects.at(-1)?.key : undefined;
  return next === undefined ? { objects } : { objects, next };
}
