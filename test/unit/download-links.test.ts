import { describe, expect, it } from 'vitest';
import { createDownloadLinks } from '../../shared/adapters/local/download-links.ts';
import { createTestClock } from '../support/local-stores.ts';

const base_url = 'http://127.0.0.1:8787';
const download = { seconds: 60, content_type: 'text/plain', file_name: 'a b/ü"\r\n.txt' };

function setUp(secret = Buffer.alloc(32, 1)) {
  const clock = createTestClock();
  const links = createDownloadLinks({ secret, base_url, clock });
  return { clock, links, signed: links.sign('artifacts/f/r/a', download).slice(base_url.length) };
}

describe('download links', () => {
  it('open to what they were signed for, again and again until they expire', () => {
    const { clock, links, signed } = setUp();
    const expected = { key: 'artifacts/f/r/a', content_type: 'text/plain', file_name: 'a b/ü"\r\n.txt' };
    expect(signed).toMatch(/^\/downloads\/[\w.-]+$/);
    expect(links.open(signed)).toStrictEqual(expected);
    clock.advance(59_999);
    expect(links.open(signed)).toStrictEqual(expected);
    clock.advance(1);
    expect(links.open(signed)).toBeUndefined();
  });

  it('are worth nothing with any character altered, left out or added', () => {
    const { links, signed } = setUp();
    for (let at = 0; at < signed.length; at += 1) {
      for (const other of ['A', 'B', '_', '']) {
        const altered = signed.slice(0, at) + other + signed.slice(at + 1);
        if (altered !== signed) expect(links.open(altered)).toBeUndefined();
      }
    }
    for (const altered of [
      `${signed}A`,
      `${signed}?x=1`,
      `${signed}/`,
      `${signed}\n`,
      `/x${signed}`,
      '',
      '/downloads/',
    ]) {
      expect(links.open(altered)).toBeUndefined();
    }
  });

  it('are worth nothing to a server with another secret', () => {
    expect(setUp(Buffer.alloc(32, 2)).links.open(setUp().signed)).toBeUndefined();
  });

  it('live at most a minute, and need a secret worth the name', () => {
    const { links, clock } = setUp();
    for (const seconds of [0, -1, 61, Number.NaN]) {
      expect(() => links.sign('a', { ...download, seconds })).toThrow(RangeError);
    }
    expect(() => createDownloadLinks({ secret: Buffer.alloc(31), base_url, clock })).toThrow(RangeError);
  });
});
