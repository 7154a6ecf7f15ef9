import { Readable } from 'node:stream';
import { S3Client } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { OBJECT_CLIENT_OPTIONS } from '../../shared/adapters/aws/client-options.ts';
import { createS3ObjectStore } from '../../shared/adapters/aws/s3-object-store.ts';
import { sha256Hex } from '../../shared/domain/sha256.ts';
import { TransientError } from '../../shared/domain/transient-error.ts';
import type { ObjectStore, PutObject } from '../../shared/ports/object-store.ts';
import {
  answer,
  brokenBody,
  failureOf,
  networkError,
  type ScriptedHttp,
  type Step,
  scriptedHttp,
} from '../support/scripted-http.ts';

function objectsOver(steps: readonly Step[], more: { prefix?: string; timeout_ms?: number } = {}) {
  const wire = scriptedHttp(...steps);
  const options = { ...OBJECT_CLIENT_OPTIONS, ...wire.options, maxAttempts: 1 };
  const client = new S3Client(options);
  const objects = createS3ObjectStore({ client, bucket: 'skills-bucket', random: () => 0, ...more });
  return { objects, wire };
}

const object = (key: string): PutObject => ({ key, bytes: Buffer.from('bytes'), sha256: sha256Hex('bytes') });
const refusal = (status: number, code: string): Step =>
  answer(
    status,
    `<Error><Code>${code}</Code><Message>arn:aws:s3:::secret for 123456789012</Message></Error>`,
    {
      'content-type': 'application/xml',
    },
  );
const content = (bytes: string, size = bytes.length): Step =>
  answer(200, bytes, { 'content-length': String(size) });
const methodsOf = ({ requests }: ScriptedHttp): string[] => requests.map(({ method }) => method);

const OK = answer(200);
const MATCHED = refusal(412, 'PreconditionFailed');
const CONFLICT = refusal(409, 'ConditionalRequestConflict');

describe('a put', () => {
  it('is refused by S3 where something is, and carries the SHA-256 of its bytes', async () => {
    const { objects, wire } = objectsOver([OK], { prefix: 'skills/' });

    expect(await objects.put({ ...object('a/b'), content_type: 'text/plain' })).toBe('written');

    const [request] = wire.requests;
    expect(request?.path).toBe('/skills/a/b');
    expect(request?.headers).toMatchObject({
      'if-none-match': '*',
      'content-type': 'text/plain',
      'content-length': '5',
      'x-amz-checksum-sha256': Buffer.from(sha256Hex('bytes'), 'hex').toString('base64'),
      'x-amz-sdk-checksum-algorithm': 'SHA256',
    });
  });

  it('says that the key was there', async () => {
    const { objects } = objectsOver([MATCHED]);
    expect(await objects.put(object('a'))).toBe('exists');
  });

  it('says the same when its own answer was lost', async () => {
    const wire = scriptedHttp(networkError('ECONNRESET'), MATCHED);
    const client = new S3Client({ ...wire.options, maxAttempts: 2 });
    const objects = createS3ObjectStore({ client, bucket: 'skills-bucket' });
    expect(await objects.put(object('a'))).toBe('exists');
  });

  it('waits for another write of the key to end', async () => {
    const { objects, wire } = objectsOver([CONFLICT, CONFLICT, MATCHED]);
    expect(await objects.put(object('a'))).toBe('exists');
    expect(wire.requests.map(({ headers }) => headers['if-none-match'])).toStrictEqual(['*', '*', '*']);
  });

  it('does not wait forever', async () => {
    const { objects, wire } = objectsOver([CONFLICT]);
    expect(await failureOf(objects.put(object('a')))).toBeInstanceOf(TransientError);
    expect(wire.requests).toHaveLength(9);
  });

  it('that replaces has no condition, and waits too', async () => {
    const { objects, wire } = objectsOver([CONFLICT, OK]);
    await objects.replace(object('a'));
    expect(wire.requests).toHaveLength(2);
    expect(wire.requests[1]?.headers).not.toHaveProperty('if-none-match');
  });

  it.each(['BadDigest', 'XAmzContentChecksumMismatch'])(
    'of altered bytes is refused with %s',
    async (code) => {
      for (const write of ['put', 'replace'] as const) {
        const { objects } = objectsOver([refusal(400, code)]);
        await expect(objects[write](object('a'))).rejects.toMatchObject({ code: 'digest_mismatch' });
      }
    },
  );
});

describe('a read', () => {
  it('brings the bytes, none too, and undefined for a key that is not there', async () => {
    const { objects } = objectsOver([content('bytes'), content(''), refusal(404, 'NoSuchKey')]);
    expect(Buffer.from((await objects.get('a')) ?? []).toString()).toBe('bytes');
    expect((await objects.get('a'))?.byteLength).toBe(0);
    expect(await objects.get('a')).toBeUndefined();
  });

  it('does not take a missing bucket for a missing key', async () => {
    const { objects } = objectsOver([refusal(404, 'NoSuchBucket')]);
    await expect(objects.get('a')).rejects.toMatchObject({ code: 'internal_error' });
  });

  it('is tried again when its body breaks off', async () => {
    const broken = answer(200, () => brokenBody('by'), { 'content-length': '5' });
    const { objects, wire } = objectsOver([broken, content('byt', 5), content('bytes')]);
    expect(Buffer.from((await objects.get('a')) ?? []).toString()).toBe('bytes');
    expect(wire.requests).toHaveLength(3);
  });

  it.each([
    ['breaks off', answer(200, () => brokenBody('by'), { 'content-length': '5' })],
    ['is shorter than it said', content('byt', 5)],
    ['is longer than it said', content('bytes and more', 5)],
  ])('gives up when its body %s every time', async (_, step) => {
    const { objects, wire } = objectsOver([step]);
    expect(await failureOf(objects.get('a'))).toBeInstanceOf(TransientError);
    expect(wire.requests).toHaveLength(3);
  });

  it('ends when the body has not come in its time', async () => {
    const drip = () => {
      async function* chunks(): AsyncGenerator<Buffer> {
        for (;;) {
          await new Promise((resolve) => setTimeout(resolve, 20));
          yield Buffer.from('.');
        }
      }
      return Readable.from(chunks());
    };
    const slow = answer(200, drip, { 'content-length': '1000000' });
    const { objects, wire } = objectsOver([slow], { timeout_ms: 100 });
    const began = performance.now();

    expect(await failureOf(objects.get('a'))).toBeInstanceOf(TransientError);

    expect(performance.now() - began).toBeLessThan(2_000);
    expect(wire.requests).toHaveLength(1);
  });
});

describe('a head', () => {
  it('tells size and time, and undefined for a key that is not there', async () => {
    const { objects, wire } = objectsOver([
      answer(200, '', { 'content-length': '7', 'last-modified': 'Mon, 02 Nov 2026 10:00:00 GMT' }),
      answer(404),
    ]);
    expect(await objects.head('a')).toStrictEqual({
      key: 'a',
      size_bytes: 7,
      written_at: '2026-11-02T10:00:00.000Z',
    });
    expect(await objects.head('a')).toBeUndefined();
    expect(methodsOf(wire)).toStrictEqual(['HEAD', 'HEAD']);
  });
});

describe('a list', () => {
  const page = (truncated: boolean, ...keys: string[]): Step =>
    answer(
      200,
      `<ListBucketResult><IsTruncated>${truncated}</IsTruncated>${keys
        .map(
          (key) =>
            `<Contents><Key>${key}</Key><Size>3</Size><LastModified>2026-11-02T10:00:00.000Z</LastModified></Contents>`,
        )
        .join('')}</ListBucketResult>`,
    );

  it('goes on after the last key of a page, without the prefix of the store', async () => {
    const { objects, wire } = objectsOver(
      [page(true, 'skills/a/1', 'skills/a/2'), page(false, 'skills/a/3')],
      {
        prefix: 'skills/',
      },
    );

    const first = await objects.list('a/');
    const second = await objects.list('a/', first.next);

    expect(first.objects.map(({ key }) => key)).toStrictEqual(['a/1', 'a/2']);
    expect(first.next).toBe('a/2');
    expect(second.objects.map(({ key }) => key)).toStrictEqual(['a/3']);
    expect(second).not.toHaveProperty('next');
    expect(wire.requests.map(({ query }) => query)).toMatchObject([
      { prefix: 'skills/a/', 'max-keys': '1000' },
      { prefix: 'skills/a/', 'start-after': 'skills/a/2' },
    ]);
    expect(wire.requests[0]?.query).not.toHaveProperty('start-after');
  });

  it('of nothing has no objects', async () => {
    const { objects } = objectsOver([page(false)]);
    expect(await objects.list('')).toStrictEqual({ objects: [] });
  });
});

const CALLS: readonly (readonly [string, (objects: ObjectStore) => Promise<unknown>])[] = [
  ['PutObject', (objects) => objects.put(object('a'))],
  ['PutObject', (objects) => objects.replace(object('a'))],
  ['GetObject', (objects) => objects.get('a')],
  ['HeadObject', (objects) => objects.head('a')],
  ['DeleteObject', (objects) => objects.delete('a')],
  ['ListObjectsV2', (objects) => objects.list('')],
];

describe.each(CALLS)('%s', (name, call) => {
  it.each([
    ['slowed down', refusal(503, 'SlowDown')],
    ['answered with errors of the server', refusal(500, 'InternalError')],
    ['asked for too slowly', refusal(400, 'RequestTimeout')],
    ['without a connection', networkError('ECONNRESET')],
    ['without an answer in time', Object.assign(new Error('slow'), { name: 'TimeoutError' })],
  ])('is busy when it is %s', async (_, step) => {
    const { objects } = objectsOver([step]);
    expect(await failureOf(call(objects))).toBeInstanceOf(TransientError);
  });

  it('fails on our side when access is denied, and repeats nothing of what S3 says', async () => {
    const { objects } = objectsOver([refusal(403, 'AccessDenied')]);
    const failure = await failureOf(call(objects));
    expect(failure).toMatchObject({ code: 'internal_error' });
    expect((failure as Error).message).toMatch(new RegExp(`^S3 ${name} failed with \\w+$`));
  });
});
