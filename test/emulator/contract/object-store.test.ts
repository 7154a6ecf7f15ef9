import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256Hex } from '../../../shared/domain/sha256.ts';
import { objectStoreContract } from '../../contract/object-store.contract.ts';
import { type EmulatorObjects, openEmulatorObjects } from './emulator-stores.ts';

objectStoreContract('S3', openEmulatorObjects);
objectStoreContract('S3 below a prefix', () => openEmulatorObjects({ prefix: 'some/skills/' }));

describe('a download URL of S3', () => {
  let opened: EmulatorObjects;
  beforeAll(async () => {
    opened = await openEmulatorObjects({ prefix: 'skills/' });
    const bytes = Buffer.from('down');
    await opened.objects.put({ key: 'a/b', bytes, sha256: sha256Hex(bytes), content_type: 'text/html' });
  });
  afterAll(() => opened.close());

  it('brings the bytes without credentials, as a file of the type and name asked for', async () => {
    const url = await opened.objects.downloadUrl('a/b', {
      seconds: 60,
      content_type: 'application/octet-stream',
      file_name: 'naïve "file".bin',
    });

    const answer = await fetch(url);

    expect(await answer.text()).toBe('down');
    expect(answer.headers.get('content-type')).toBe('application/octet-stream');
    expect(answer.headers.get('content-disposition')).toBe(
      "attachment; filename*=UTF-8''na%C3%AFve%20%22file%22.bin",
    );
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it('lives no longer than it was asked to, and never above 60 seconds', async () => {
    const download = { content_type: 'text/plain', file_name: 'a' };

    const url = new URL(await opened.objects.downloadUrl('a/b', { seconds: 30, ...download }));

    expect(url.searchParams.get('X-Amz-Expires')).toBe('30');
    for (const seconds of [61, 0, -1, Number.NaN]) {
      await expect(opened.objects.downloadUrl('a/b', { seconds, ...download })).rejects.toThrow(RangeError);
    }
  });
});
