/** What is read of a package over HTTP: revisions, files, canonical bytes, zip, diff, validation. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { decodePackage } from '../../shared/domain/canonical-package.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { freshApi } from '../support/scopes.ts';
import { skillFiles, skillMd } from '../support/skill-files.ts';
import { unzip } from '../support/test-zip.ts';

const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');

const FILES = skillFiles('t1', {
  'scripts/run.py': '#!/usr/bin/env python3\nprint("hi")\n',
  'references/é.md': 'é\r\n',
  'references/empty.md': '',
  'B.md': 'no newline',
  ['__proto__']: 'kept',
});
const PATHS_IN_ORDER = Object.keys(FILES).toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

describe('GET /skills', () => {
  it('pages by cursor through every skill once, in one order', async () => {
    const api = freshApi();
    const names = ['a', 'b', 'c', 'd', 'e'].map((letter) => `skill-${letter}`);
    await Promise.all(names.map((name) => api.publish(name, skillFiles(name))));

    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await api.get(`/skills?limit=2${cursor === undefined ? '' : `&cursor=${cursor}`}`);
      expect(page.json.items.length).toBeLessThanOrEqual(2);
      seen.push(...page.json.items.map((item: { name: string }) => item.name));
      cursor = page.json.next_cursor;
    } while (cursor !== undefined);

    expect(seen).toEqual(names);
    expect(Object.keys((await api.get('/skills')).json)).toEqual(['items']);
  });

  it.each(['limit=0', 'limit=201', 'limit=x', 'cursor=x', 'cursor=', 'page=2'])(
    'refuses ?%s',
    async (query) => {
      expectProblem(await freshApi().get(`/skills?${query}`), 400, 'invalid_request');
    },
  );

  it('refuses a cursor of another list', async () => {
    const api = freshApi();
    for (const name of ['a1', 'a2']) {
      await api.publish(name, skillFiles(name));
      await api.putAgent(name, {});
    }
    const cursor = (await api.get('/skills?limit=1')).json.next_cursor;

    expectProblem(await api.get(`/agents?limit=1&cursor=${cursor}`), 400, 'invalid_request');
  });
});

describe('revisions', () => {
  it('are listed newest first, paged, and each is read as it was', async () => {
    const api = freshApi();
    const published = [];
    for (const text of ['1', '2', '3'])
      published.push((await api.publish('t1', skillFiles('t1', { a: text }))).json);

    const first = (await api.get('/skills/t1/revisions?limit=2')).json;
    const second = (await api.get(`/skills/t1/revisions?limit=2&cursor=${first.next_cursor}`)).json;

    const listed = [...first.items, ...second.items].map((item: { revision: string }) => item.revision);
    expect(listed).toEqual(published.map(({ revision }) => revision).toReversed());
    const oldest = (await api.get(`/skills/t1/revisions/${published[0]?.revision}`)).json;
    expect(oldest).toEqual(second.items[0]);
    expect(oldest).toMatchObject({ name: 't1', digest: published[0]?.digest, file_count: 2 });
    expect(
      (await api.get(`/skills/t1/files?path=a&revision=${published[1]?.revision}`)).bytes.toString(),
    ).toBe('2');
  });

  it('that are not there are 404', async () => {
    const api = freshApi();
    await api.publish('t1', skillFiles('t1'));
    const other = (await api.publish('t2', skillFiles('t2'))).json.revision;

    for (const revision of ['0'.repeat(26), other]) {
      expectProblem(await api.get(`/skills/t1/revisions/${revision}`), 404, 'not_found');
      expectProblem(await api.get(`/skills/t1/files?revision=${revision}`), 404, 'not_found');
      expectProblem(await api.get(`/skills/t1/package?revision=${revision}`), 404, 'not_found');
      expectProblem(await api.get(`/skills/t1/diff?from=${revision}`), 404, 'not_found');
    }
  });
});

describe('files and package', () => {
  it('list path, size and hash in canonical order, and give the exact bytes', async () => {
    const api = freshApi();
    await api.publish('t1', FILES);

    const { items } = (await api.get('/skills/t1/files')).json;

    expect(items.map((item: { path: string }) => item.path)).toEqual(PATHS_IN_ORDER);
    for (const { path, size_bytes, sha256: hash } of items) {
      const { bytes, headers } = await api.get(`/skills/t1/files?path=${encodeURIComponent(path)}`);
      expect(bytes, path).toEqual(Buffer.from(FILES[path] ?? '?'));
      expect([size_bytes, hash], path).toEqual([bytes.length, sha256(bytes)]);
      expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-disposition')).toBe('attachment');
    }
    expectProblem(await api.get('/skills/t1/files?path=nope'), 404, 'not_found');
  });

  it('the package is the canonical bytes: their hash is the digest, they hold every file', async () => {
    const api = freshApi();
    const { digest } = (await api.publish('t1', FILES)).json;

    const { bytes, headers } = await api.get('/skills/t1/package');

    expect(`sha256:${sha256(bytes)}`).toBe(digest);
    expect(headers.get('content-type')).toBe('application/octet-stream');
    expect(decodePackage(bytes).map(({ path, content }) => [path, Buffer.from(content).toString()])).toEqual(
      PATHS_IN_ORDER.map((path) => [path, FILES[path]]),
    );
  });

  it.each(['application/zip', 'text/html, application/zip;q=0.9'])(
    'is a zip for Accept: %s',
    async (accept) => {
      const api = freshApi();
      await api.publish('t1', FILES);

      const { bytes, headers } = await api.get('/skills/t1/package', { accept });

      expect(headers.get('content-type')).toBe('application/zip');
      expect(headers.get('vary')).toMatch(/accept/i);
      const entries = unzip(bytes);
      expect(entries.map(({ path }) => path)).toEqual(PATHS_IN_ORDER.map((path) => `t1/${path}`));
      for (const { path, bytes: content } of entries) {
        expect(content, path).toEqual(Buffer.from(FILES[path.slice('t1/'.length)] ?? '?'));
      }
      const executable = entries.filter(({ mode }) => (mode & 0o111) !== 0).map(({ path }) => path);
      expect(executable).toEqual(['t1/scripts/run.py']);
    },
  );

  it.each(['*/*', 'application/zip;q=0', 'application/octet-stream'])(
    'is no zip for Accept: %s',
    async (accept) => {
      const api = freshApi();
      await api.publish('t1', FILES);

      const { bytes } = await api.get('/skills/t1/package', { accept });

      expect(bytes.subarray(0, 8).toString()).toBe('CSKPKG1\n');
    },
  );
});

describe('diff', () => {
  it('names files added, removed and changed, with unified text diffs', async () => {
    const api = freshApi();
    const from = (await api.publish('t1', skillFiles('t1', { same: 's', gone: 'g\n', text: 'a\nb\n' }))).json;
    const to = (await api.publish('t1', skillFiles('t1', { same: 's', fresh: 'f\n', text: 'a\nc\n' }))).json;

    const { status, json } = await api.get(`/skills/t1/diff?from=${from.revision}&to=${to.revision}`);

    expect(status).toBe(200);
    expect(json).toMatchObject({ from: from.revision, to: to.revision, to_digest: to.digest });
    expect(json.files.map((file: { path: string; change: string }) => [file.path, file.change])).toEqual([
      ['fresh', 'added'],
      ['gone', 'removed'],
      ['text', 'changed'],
    ]);
    expect(json.files[2].diff).toContain('-b\n+c\n');
    expect(json.files[2]).toMatchObject({ from_sha256: sha256('a\nb\n'), to_sha256: sha256('a\nc\n') });
    const toCurrent = await api.get(`/skills/t1/diff?from=${from.revision}`);
    expect(toCurrent.json).toEqual(json);
  });

  it('of a revision with itself is empty, and a large file is compared by hash only', async () => {
    const api = freshApi();
    const large = 'x\n'.repeat(200_000);
    const from = (await api.publish('t1', skillFiles('t1', { large }))).json.revision;
    await api.publish('t1', skillFiles('t1', { large: `${large}y` }));

    const self = (await api.get(`/skills/t1/diff?from=${from}&to=${from}`)).json;
    const { files } = (await api.get(`/skills/t1/diff?from=${from}`)).json;

    expect(self.files).toEqual([]);
    expect(files).toHaveLength(1);
    expect(files[0].diff).toBeUndefined();
    expect(files[0].diff_omitted).toContain('262144');
  });

  it('without `from` is refused', async () => {
    const api = freshApi();
    await api.publish('t1', skillFiles('t1'));

    expectProblem(await api.get('/skills/t1/diff'), 400, 'invalid_request');
  });
});

describe('POST /skill-validations', () => {
  it('judges a valid package as publishing would, and stores nothing', async () => {
    const api = freshApi();

    const judged = await api.post('/skill-validations', { name: 't1', files: FILES });

    expect(judged.status).toBe(200);
    expect((await api.get('/skills')).json.items).toEqual([]);
    const published = await api.publish('t1', FILES);
    expect(judged.json).toMatchObject({
      name: 't1',
      validation_status: 'valid',
      digest: published.json.digest,
      file_count: published.json.file_count,
      size_bytes: published.json.size_bytes,
      problems: [],
      warnings: [],
    });
  });

  it('lists every problem of an invalid one with 200', async () => {
    const api = freshApi();
    const files = { 'SKILL.md': skillMd('other'), '../a': 'x', 'b//c': 'x' };

    const { status, json } = await api.post('/skill-validations', { name: 't1', files });
    const refused = await api.post('/skills', { name: 't1', files });

    expect(status).toBe(200);
    expect(json.validation_status).toBe('invalid');
    expect(json.digest).toBeUndefined();
    expect(json.problems.map((problem: { code: string }) => problem.code).toSorted()).toEqual([
      'frontmatter_name_mismatch',
      'path_dot_segment',
      'path_empty_segment',
    ]);
    expectProblem(refused, 422, 'invalid_package');
    expect(refused.json.problems).toEqual(json.problems);
  });
});
