/**
 * ObjectStore on one bucket. Every object goes up with its SHA-256, which S3 checks and keeps, and under a condition on
 * what is there: buckets refuse blind writes. A deletion in a versioned bucket hides the object, and its key can be taken
 * again. The functions need s3:ListBucket on the bucket: without it
 * S3 answers 403, and not 404, for a key that is not there.
 */
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  NoSuchKey,
  PutObjectCommand,
  type PutObjectCommandInput,
  type S3Client,
} from '@aws-sdk/client-s3';
import * as z from 'zod';
import type { ObjectInfo, ObjectStore, PutObject } from '../../ports/object-store.ts';
import { checkObjectKey } from '../checked-object-key.ts';
import { retryWithJitter } from './retry-with-jitter.ts';
import { BrokenBody, readBody } from './s3-body.ts';
import { signDownload } from './s3-download-url.ts';
import { s3Failure } from './s3-failure.ts';
import { listObjects } from './s3-list.ts';
import { httpStatus } from './transient-failure.ts';

export interface S3ObjectStoreOptions {
  readonly client: S3Client;
  readonly bucket: string;
  /** What every key in the bucket begins with, such as `skills/`; default nothing. */
  readonly prefix?: string;
  /** For a call with all of its attempts and its body, in milliseconds; default 20 seconds. */
  readonly timeout_ms?: number;
  /** In [0, 1), spreads retries after conflicts; default Math.random. */
  readonly random?: () => number;
}

type Bucket = Required<S3ObjectStoreOptions>;

const TIMEOUT_MS = 20_000;
/** A conflict lasts as long as the other write of the key. */
const CONFLICT_RETRIES = 8;
/** The SDK tries again only until a body begins. */
const BODY_RETRIES = 2;

export function createS3ObjectStore(options: S3ObjectStoreOptions): ObjectStore {
  const bucket: Bucket = { prefix: '', timeout_ms: TIMEOUT_MS, random: Math.random, ...options };
  return {
    put: (object) => putIfAbsent(bucket, object),
    replace: (object) => replace(bucket, object),
    get: (key) => getWhole(bucket, key),
    head: (key) => head(bucket, key),
    delete: async (key) => {
      const command = new DeleteObjectCommand(placeOf(bucket, key));
      await asked('DeleteObject', () => bucket.client.send(command, { abortSignal: deadline(bucket) }));
    },
    list: (below, after) =>
      asked('ListObjectsV2', () => listObjects(bucket, { below, after }, deadline(bucket))),
    downloadUrl: async (key, download) => signDownload(bucket.client, placeOf(bucket, key), download),
  };
}

function placeOf({ bucket, prefix }: Bucket, key: string): { readonly Bucket: string; readonly Key: string } {
  checkObjectKey(key);
  return { Bucket: bucket, Key: `${prefix}${key}` };
}

const deadline = ({ timeout_ms }: Bucket): AbortSignal => AbortSignal.timeout(timeout_ms);

async function asked<T>(call: string, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (cause) {
    throw s3Failure(call, cause);
  }
}

function putInput(bucket: Bucket, { key, bytes, sha256, content_type }: PutObject): PutObjectCommandInput {
  return {
    ...placeOf(bucket, key),
    Body: bytes,
    ContentLength: bytes.byteLength,
    ...(content_type !== undefined && { ContentType: content_type }),
    ChecksumAlgorithm: 'SHA256',
    ChecksumSHA256: Buffer.from(sha256, 'hex').toString('base64'),
  };
}

async function putIfAbsent(bucket: Bucket, object: PutObject): Promise<'written' | 'exists'> {
  const input = { ...putInput(bucket, object), IfNoneMatch: '*' };
  try {
    await write(bucket, input);
    return 'written';
  } catch (cause) {
    // Also when a try of ours wrote it and its answer was lost: to callers it is there either way.
    if (httpStatus(cause) === 412) return 'exists';
    throw s3Failure('PutObject', cause);
  }
}

/** S3 answers 409 while another conditional write, or a deletion, of the same key is under way. */
async function write(bucket: Bucket, input: PutObjectCommandInput): Promise<void> {
  const abortSignal = deadline(bucket);
  await retryWithJitter(() => bucket.client.send(new PutObjectCommand(input), { abortSignal }), {
    retries: CONFLICT_RETRIES,
    isWorthIt: (error) => httpStatus(error) === 409,
    random: bucket.random,
  });
}

/** Of what is there now: when that changes in between, of what is there then. */
async function replace(bucket: Bucket, object: PutObject): Promise<void> {
  const input = putInput(bucket, object);
  const attempt = async (): Promise<void> => {
    const found = await headOf(bucket, object.key);
    const condition = found === undefined ? { IfNoneMatch: '*' } : { IfMatch: found.ETag };
    await asked('PutObject', () => write(bucket, { ...input, ...condition }));
  };
  await retryWithJitter(attempt, {
    retries: CONFLICT_RETRIES,
    isWorthIt: ({ cause }) => httpStatus(cause) === 412 || cause instanceof NoSuchKey,
    random: bucket.random,
  });
}

async function getWhole(bucket: Bucket, key: string): Promise<Uint8Array | undefined> {
  const place = placeOf(bucket, key);
  const abortSignal = deadline(bucket);
  const attempt = async (): Promise<Uint8Array | undefined> => {
    const command = new GetObjectCommand(place);
    const answer = await asked('GetObject', () =>
      bucket.client.send(command, { abortSignal }).catch(undefinedIf((cause) => cause instanceof NoSuchKey)),
    );
    return answer && readBody(answer.Body, answer.ContentLength ?? 0, abortSignal);
  };
  return retryWithJitter(attempt, {
    retries: BODY_RETRIES,
    isWorthIt: (error) => error instanceof BrokenBody && !abortSignal.aborted,
    random: bucket.random,
  });
}

async function head(bucket: Bucket, key: string): Promise<ObjectInfo | undefined> {
  const found = await headOf(bucket, key);
  if (found === undefined) return undefined;
  return { key, size_bytes: found.ContentLength, written_at: found.LastModified.toISOString() };
}

const headSchema = z.object({ ContentLength: z.int().min(0), LastModified: z.date(), ETag: z.string() });

async function headOf(bucket: Bucket, key: string): Promise<z.infer<typeof headSchema> | undefined> {
  const command = new HeadObjectCommand(placeOf(bucket, key));
  const answer = await asked('HeadObject', () =>
    bucket.client
      .send(command, { abortSignal: deadline(bucket) })
      // Without a body it cannot say of what: of the key, or of the bucket.
      .catch(undefinedIf((cause) => httpStatus(cause) === 404)),
  );
  return answer && headSchema.parse(answer);
}

const undefinedIf =
  (isExpected: (cause: unknown) => boolean) =>
  (cause: unknown): undefined => {
    if (!isExpected(cause)) throw cause;
  };
