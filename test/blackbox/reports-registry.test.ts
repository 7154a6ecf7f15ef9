/** Faults reported of other registries, each input taken from its public report: publishing and reading. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { freshApi } from '../support/scopes.ts';
import { skillFiles, skillMd } from '../support/skill-files.ts';

const sha256 = (text: string | Uint8Array): string => createHash('sha256').update(text).digest('hex');

describe('A1 frontmatter that YAML cannot read', () => {
  it('is refused with file and line, and nothing is stored', async () => {
    const api = freshApi();
    const content = '---\nname: t1\ndescription: Draw pictures IMPORTANT: always use style X\n---\nbody\n';

    const answer = await api.post('/skills', { name: 't1', files: { 'SKILL.md': content } });

    expect(answer.status).toBe(422);
    expect(answer.json.problems).toContainEqual(
      expect.objectContaining({ code: 'frontmatter_yaml', path: 'SKILL.md', line: 3 }),
    );
    expect((await api.get('/skills/t1')).status).toBe(404);
    expect((await api.get('/skills')).json).toEqual({ items: [] });
  });
});

describe('A2 CRLF', () => {
  it('gives the same answers everywhere, keeps the bytes, and has a digest of its own', async () => {
    const api = freshApi();
    const crlf = '---\r\nname: t1\r\ndescription: Test skill one.\r\n---\r\nbody\r\n';

    const created = await api.post('/skills', { name: 't1', files: { 'SKILL.md': crlf } });

    expect(created.status).toBe(201);
    expect(created.json.description).toBe('Test skill one.');
    expect((await api.get('/skills/t1')).json).toEqual(created.json);
    expect((await api.get('/skills')).json.items).toEqual([created.json]);
    expect((await api.get('/skills/t1/files?path=SKILL.md')).bytes.toString()).toBe(crlf);
    const twin = await api.put('/skills/t1', { files: { 'SKILL.md': crlf.replaceAll('\r\n', '\n') } });
    expect(twin.json.digest).not.toBe(created.json.digest);
  });

  it('may have a BOM', async () => {
    const api = freshApi();
    const content = `\ufeff${skillMd('t1')}`;

    const created = await api.post('/skills', { name: 't1', content });

    expect(created.status).toBe(201);
    expect((await api.get('/skills/t1/files?path=SKILL.md')).bytes.toString('utf8')).toBe(content);
  });
});

describe('A3 paths that alias another', () => {
  it.each([
    './SKILL.md',
    'sub/../SKILL.md',
    'scripts//a.py',
    'scripts/..',
    'scripts/.',
    '/etc/x',
    'a\\b',
    'C:/x',
  ])('%s is refused and nothing is stored', async (path) => {
    const api = freshApi();

    const answer = await api.post('/skills', { name: 't1', files: skillFiles('t1', { [path]: 'x' }) });

    expect(answer.status).toBe(422);
    expect(answer.json.problems[0]).toMatchObject({ path, code: expect.stringMatching(/^path_/) });
    expect((await api.get('/skills/t1')).status).toBe(404);
  });
});

describe('A4 every file arrives', () => {
  it('whatever its name, byte for byte', async () => {
    const api = freshApi();
    const files = skillFiles('t1', {
      'bin/tool': '#!/bin/sh\necho ok\n',
      'config/e.tsv': 'a\tb\n',
      Makefile: 'all:\n',
      '.config/x': '1\n',
      'scripts/__init__.py': '',
      ['__proto__']: 'kept',
      constructor: 'kept too',
    });

    const created = await api.post('/skills', { name: 't1', files });

    expect(created.status).toBe(201);
    expect(created.json.file_count).toBe(8);
    const listed = (await api.get('/skills/t1/files')).json.items;
    expect(listed).toHaveLength(8);
    for (const { path, sha256: listedHash } of listed) {
      const fetched = await api.get(`/skills/t1/files?path=${encodeURIComponent(path)}`);
      expect(fetched.bytes.toString(), path).toBe(Object.getOwnPropertyDescriptor(files, path)?.value);
      expect(sha256(fetched.bytes), path).toBe(listedHash);
    }
  });
});

describe('A5 NUL in a text', () => {
  it('is kept exactly', async () => {
    const api = freshApi();

    const created = await api.post('/skills', {
      name: 't1',
      files: skillFiles('t1', { 'references/a.md': 'a\0b' }),
    });

    expect(created.status).toBe(201);
    expect((await api.get('/skills/t1/files?path=references/a.md')).bytes).toEqual(Buffer.from('a\0b'));
  });
});

describe('A6 ten creates of one name at once', () => {
  it('one wins, nine get 409', async () => {
    const api = freshApi();

    const answers = await Promise.all(
      Array.from({ length: 10 }, () => api.post('/skills', { name: 'race1', files: skillFiles('race1') })),
    );

    expect(answers.map((answer) => answer.status).toSorted()).toEqual([201, ...Array(9).fill(409)]);
    expect((await api.get('/skills')).json.items).toHaveLength(1);
    expect((await api.get('/skills/race1/revisions')).json.items).toHaveLength(1);
    expect((await api.get('/skills/race1/package')).status).toBe(200);
  });
});

describe('A7 two editors', () => {
  const edition = (letter: string) =>
    skillFiles('t1', { 'scripts/a.py': `print("${letter}")\n`, 'references/m.md': letter });

  it('never mix, and both editions stay readable by revision', async () => {
    const api = freshApi();
    await api.publish('t1', skillFiles('t1'));

    for (let round = 0; round < 50; round += 1) {
      const [a, b] = await Promise.all(
        ['A', 'B'].map((letter) => api.put('/skills/t1', { files: edition(letter) })),
      );
      expect([a?.status, b?.status]).toEqual([200, 200]);
    }

    const now = (await api.get('/skills/t1')).json;
    const script = (await api.get('/skills/t1/files?path=scripts/a.py')).bytes.toString();
    const note = (await api.get('/skills/t1/files?path=references/m.md')).bytes.toString();
    expect(script).toBe(`print("${note}")\n`);
    expect(sha256((await api.get('/skills/t1/package')).bytes)).toBe(now.digest.slice('sha256:'.length));
    for (const { revision, digest } of (await api.get('/skills/t1/revisions')).json.items) {
      const bytes = (await api.get(`/skills/t1/package?revision=${revision}`)).bytes;
      expect(`sha256:${sha256(bytes)}`).toBe(digest);
    }
  });

  it('the one with a stale If-Match gets 412', async () => {
    const api = freshApi();
    const etag = (await api.publish('t1', skillFiles('t1'))).headers.get('etag') ?? '';

    const answers = await Promise.all(
      ['A', 'B'].map((letter) => api.put('/skills/t1', { files: edition(letter) }, { 'if-match': etag })),
    );

    expect(answers.map((answer) => answer.status).toSorted()).toEqual([200, 412]);
  });
});

describe('A15 sizes', () => {
  const MiB = 1024 * 1024;
  const ofSize = (bytes: number, character: string): Record<string, string> => {
    const width = Buffer.byteLength(character);
    const text = character.repeat(Math.floor(bytes / 40 / width));
    return skillFiles(
      'big',
      Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`references/${n}.md`, text])),
    );
  };

  it.each([
    [1, 'x'],
    [3.9, 'x'],
    [1, '語'],
    [3.9, '語'],
  ])('%d MiB of %s under the limit of a request is published', async (size, character) => {
    const api = freshApi();

    const answer = await api.post('/skills', { name: 'big', files: ofSize(size * MiB, character) });

    expect(answer.status).toBe(201);
  });

  it.each([
    [4.1, 'x'],
    [9, 'x'],
    [4.1, '語'],
  ])('%d MiB of %s is refused with the limit and the way out', async (size, character) => {
    const api = freshApi();

    const answer = await api.post('/skills', { name: 'big', files: ofSize(size * MiB, character) });

    expect(answer.status).toBe(413);
    expect(answer.json).toMatchObject({
      code: 'body_too_large',
      detail: expect.stringMatching(/4 MiB.*gzip/s),
    });
  });
});
