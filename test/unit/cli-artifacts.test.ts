import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type FakeRequest, startFakeApi } from '../support/cli-fake-api.ts';
import { runCli, temporaryFolder } from '../support/cli-io.ts';
import { RUN_ID, sha256 } from '../support/cli-samples.ts';

/** An API whose one run left these files. */
const apiWith = (files: Record<string, string>, more: readonly unknown[] = []) =>
  startFakeApi({
    getRunArtifacts: ({ query }: FakeRequest) => {
      const path = query.get('path');
      if (path !== null) {
        return { bytes: Buffer.from(files[path] ?? ''), headers: { 'content-disposition': 'attachment' } };
      }
      const items = Object.entries(files).map(([name, text]) => ({
        path: name,
        size_bytes: Buffer.byteLength(text),
        sha256: sha256(text),
      }));
      return { json: { items: [...items, ...more] } };
    },
  });

const get = (url: string, folder: string, ...argv: string[]) =>
  runCli(['artifacts', 'get', RUN_ID, ...argv, '--endpoint', url, '--scope', 'tenant=a'], { cwd: folder });

describe('artifacts get', () => {
  it('writes all artifacts below the folder and prints their hashes', async () => {
    const folder = temporaryFolder();
    const api = await apiWith({ 'report.json': '{}', 'charts/a.svg': '<svg/>' });

    const result = await get(api.url, folder.path, '--output', 'out', '--json');

    expect(result.code).toBe(0);
    expect(readFileSync(join(folder.path, 'out/charts/a.svg'), 'utf8')).toBe('<svg/>');
    expect(result.json()).toMatchObject({
      run_id: RUN_ID,
      files: [
        { path: 'report.json', sha256: sha256('{}') },
        { path: 'charts/a.svg', size_bytes: 6 },
      ],
    });
  });

  it('writes only what a path or glob names', async () => {
    const folder = temporaryFolder();
    const api = await apiWith({ 'a.json': '1', 'b.json': '2', 'c.txt': '3', '[x].json': '4' });

    await get(api.url, folder.path, '*.json', '--output', 'glob');
    await get(api.url, folder.path, '[x].json', '--output', 'exact');

    expect(readdirSync(join(folder.path, 'glob')).sort()).toEqual(['[x].json', 'a.json', 'b.json']);
    expect(readdirSync(join(folder.path, 'exact'))).toEqual(['[x].json']);
  });

  it.each([
    '../escape.txt',
    'a/../../escape.txt',
    '/tmp/escape.txt',
    '.',
    'a//b',
    'C:\\escape.txt',
    'a\\..\\b',
    'line\nbreak',
    'nul\u0000',
  ])('refuses the path %j and writes nothing at all', async (path) => {
    const folder = temporaryFolder();
    mkdirSync(join(folder.path, 'out'));
    const api = await apiWith({ 'good.txt': 'x', [path]: 'owned' });

    const result = await get(api.url, folder.path, '--output', 'out');

    expect(result.code).toBe(1);
    expect(result.stderr).toContain('[refused_path]');
    expect(readdirSync(folder.path)).toEqual(['out']);
    expect(readdirSync(join(folder.path, 'out'))).toEqual([]);
  });

  it('never writes through a link in the folder', async () => {
    const folder = temporaryFolder();
    const outside = temporaryFolder();
    symlinkSync(outside.path, join(folder.path, 'charts'));
    const api = await apiWith({ 'charts/a.svg': 'owned' });

    const plain = await get(api.url, folder.path);
    const forced = await get(api.url, folder.path, '--force');

    expect([plain.code, forced.code]).toEqual([1, 1]);
    expect(forced.stderr).toContain('a symbolic link is in the way');
    expect(readdirSync(outside.path)).toEqual([]);
  });

  it('replaces no file without --force, and tells before it fetches', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder.path, 'b.txt'), 'mine');
    const api = await apiWith({ 'a.txt': '1', 'b.txt': '2' });

    const result = await get(api.url, folder.path);

    expect(result.code).toBe(1);
    expect(result.stderr).toMatch(/b\.txt exists already \[file_exists\]; give --force/);
    expect(existsSync(join(folder.path, 'a.txt'))).toBe(false);
    expect(readFileSync(join(folder.path, 'b.txt'), 'utf8')).toBe('mine');
  });

  it('with --force replaces a link itself, not what it points to', async () => {
    const folder = temporaryFolder();
    const outside = temporaryFolder();
    const target = join(outside.path, 'precious');
    writeFileSync(target, 'mine');
    symlinkSync(target, join(folder.path, 'a.txt'));
    const api = await apiWith({ 'a.txt': 'new' });

    const result = await get(api.url, folder.path, '--force');

    expect(result.code).toBe(0);
    expect(readFileSync(target, 'utf8')).toBe('mine');
    expect(readFileSync(join(folder.path, 'a.txt'), 'utf8')).toBe('new');
    expect(readdirSync(folder.path)).toEqual(['a.txt']);
  });

  it('writes nothing that is not what its hash says', async () => {
    const folder = temporaryFolder();
    const api = await apiWith({}, [{ path: 'a.txt', size_bytes: 1, sha256: sha256('other') }]);

    const result = await get(api.url, folder.path);

    expect(result.code).toBe(1);
    expect(result.stderr).toContain('[checksum_mismatch]');
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('says why an output was refused', async () => {
    const folder = temporaryFolder();
    const api = await apiWith({ 'a.txt': '1' }, [
      { path: 'leak', size_bytes: 0, refused: 'a symbolic link' },
    ]);

    const result = await get(api.url, folder.path, 'leak');

    expect(result.code).toBe(1);
    expect(result.stderr).toContain('leak was refused: a symbolic link');
  });

  it('writes one artifact to standard output, byte for byte', async () => {
    const folder = temporaryFolder();
    const text = 'a\u001b[31mb\r\n';
    const api = await apiWith({ 'a.txt': text, 'b.txt': '' });

    const one = await get(api.url, folder.path, 'a.txt', '--output', '-');
    const two = await get(api.url, folder.path, '--output', '-');

    expect(one.stdout).toBe(text);
    expect(two.code).toBe(2);
  });

  it('of a run that left nothing is a failure with the next step', async () => {
    const folder = temporaryFolder();
    const api = await apiWith({});

    const result = await get(api.url, folder.path);

    expect(result.code).toBe(1);
    expect(result.stderr).toContain('cognition artifacts list');
  });
});
