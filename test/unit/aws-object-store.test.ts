import { S3Client } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { createS3ObjectStore } from '../../shared/adapters/aws/s3-object-store.ts';
import { sha256Hex } from '../../shared/domain/sha256.ts';
import { TransientError } from '../../shared/domain/transient-error.ts';
import type { ObjectStore } from '../../shared/ports/object-store.ts';
import { answer, failureOf, networkError, scriptedHttp } from '../support/scripted-http.ts';
import { found, methodsOf, object, objectsOver, refusal } from '../support/scripted-objects.ts';

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

  it('that replaces does so to what is there, and waits too', async () => {
    const { objects, wire } = objectsOver([found('"one"'), CONFLICT, OK]);
    await objects.replace(object('a'));
    expect(methodsOf(wire)).toStrictEqual(['HEAD', 'PUT', 'PUT']);
    expect(wire.requests[2]?.headers).toMatchObject({ 'if-match': '"one"' });
  });

  it('that replaces nothing puts if absent', async () => {
    const { objects, wire } = objectsOver([answer(404), OK]);
    await objects.replace(object('a'));
    expect(wire.requests[1]?.headers).toMatchObject({ 'if-none-match': '*' });
    expect(wire.requests[1]?.headers).not.toHaveProperty('if-match');
  });

  it('that replaces what another changes, or deletes, looks again', async () => {
    const gone = refusal(404, 'NoSuchKey');
    const { objects, wire } = objectsOver([
      ...[found('"one"'), MATCHED],
      ...[found('"two"'), gone],
      ...[answer(404), MATCHED],
      ...[found('"three"'), OK],
    ]);
    await objects.replace(object('a'));
    const puts = wire.requests.filter(({ method }) => method === 'PUT');
    expect(puts.map(({ headers }) => headers['if-match'] ?? headers['if-none-match'])).toStrictEqual([
      ...['"one"', '"two"', '*', '"three"'],
    ]);
  });

  it('that is overtaken every time gives up', async () => {
    const { objects } = objectsOver([({ method }) => (method === 'HEAD' ? found('"x"')() : MATCHED())]);
    expect(await failureOf(objects.replace(object('a')))).toBeInstanceOf(TransientError);
  });

  it.each(['BadDigest', 'XAmzContentChecksumMismatch'])(
    'of altered bytes is refused with %s',
    async (code) => {
      const altered = refusal(400, code);
      const put = objectsOver([altered]).objects.put(object('a'));
      await expect(put).rejects.toMatchObject({ code: 'digest_mismatch' });
      const replace = objectsOver([found('"one"'), altered]).objects.replace(object('a'));
      await expect(replace).rejects.toMatchObject({ code: 'digest_mismatch' });
    },
  );
});

const CALLS: readonly (readonly [string, (objects: ObjectStore) => Promise<unknown>])[] = [
  ['PutObject', (objects) => objects.put(object('a'))],
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
