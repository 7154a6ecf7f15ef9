import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { TransientError } from '../../shared/domain/transient-error.ts';
import { answer, brokenBody, failureOf, type Step } from '../support/scripted-http.ts';
import { found, methodsOf, objectsOver, refusal } from '../support/scripted-objects.ts';

const content = (bytes: string, size = bytes.length): Step =>
  answer(200, bytes, { 'content-length': String(size) });

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
    const { objects, wire } = objectsOver([found('"one"'), answer(404)]);
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
