import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkPackageFolder } from '../../cli/package-folder/check-package-folder.ts';
import { readPackageFolder } from '../../cli/package-folder/read-package-folder.ts';
import { LIMITS } from '../../shared/contracts/limits.ts';
import { encodePackage, packageDigest } from '../../shared/domain/canonical-package.ts';
import { problem, startFakeApi } from '../support/cli-fake-api.ts';
import { runCli, temporaryFolder } from '../support/cli-io.ts';
import { sampleSkill } from '../support/cli-samples.ts';

const SKILL = '---\nname: hello\ndescription: Says hello.\n---\n# Hello\n';

function folderOf(files: Record<string, string | Buffer>) {
  const folder = temporaryFolder();
  for (const [path, content] of Object.entries({ 'SKILL.md': SKILL, ...files })) {
    mkdirSync(dirname(join(folder.path, path)), { recursive: true });
    writeFileSync(join(folder.path, path), content);
  }
  return folder;
}

const codes = (problems: readonly { code: string; path?: string | undefined }[]) =>
  problems.map(({ code, path }) => [code, path]);

describe('a package folder', () => {
  it('gives every file byte for byte, empty ones and odd names too', async () => {
    const files = {
      'bin/tool': '#!/bin/sh\r\necho ok',
      '.config/x': '1\n',
      'scripts/__init__.py': '',
      'references/a.md': '\ufeffa\u0000b',
      __proto__x: 'y',
    };
    const folder = folderOf(files);

    const read = await readPackageFolder(folder.path);

    expect(read.problems).toEqual([]);
    expect(Object.fromEntries(read.files)).toEqual({ 'SKILL.md': SKILL, ...files });
  });

  it('leaves out what no package wants, and says so', async () => {
    const folder = folderOf({
      '.git/config': 'x',
      'node_modules/a/index.js': 'x',
      'scripts/__pycache__/a.pyc': Buffer.from([0xff]),
      'assets/.DS_Store': Buffer.from([0xff]),
    });

    const read = await readPackageFolder(folder.path);

    expect([...read.files.keys()]).toEqual(['SKILL.md']);
    expect(read.ignored).toEqual(['.git', 'assets/.DS_Store', 'node_modules', 'scripts/__pycache__']);
  });

  it('with symbolic links is refused, and none is followed', async () => {
    const folder = folderOf({ 'scripts/a.sh': 'x' });
    symlinkSync('/etc/passwd', join(folder.path, 'leak.txt'));
    symlinkSync('.', join(folder.path, 'scripts', 'loop'));
    symlinkSync('nowhere', join(folder.path, 'dangling'));

    const read = await readPackageFolder(folder.path);

    expect(codes(read.problems)).toEqual([
      ['path_symlink', 'dangling'],
      ['path_symlink', 'leak.txt'],
      ['path_symlink', 'scripts/loop'],
    ]);
    expect([...read.files.keys()]).toEqual(['SKILL.md', 'scripts/a.sh']);
  });

  it('with a pipe in it is refused without waiting for a writer', async () => {
    const folder = folderOf({});
    execFileSync('mkfifo', [join(folder.path, 'pipe')]);

    const read = await readPackageFolder(folder.path);

    expect(codes(read.problems)).toEqual([['path_special_file', 'pipe']]);
  });

  it('with bytes that are not UTF-8 is refused, with the fix', async () => {
    const folder = folderOf({ 'assets/logo.png': Buffer.from([0x89, 0x50, 0xff]) });

    const checked = await checkPackageFolder(folder.path);

    expect(checked).toMatchObject({
      kind: 'invalid',
      problems: [{ code: 'content_not_utf8', path: 'assets/logo.png', message: /--input/ }],
    });
  });

  it('with a name that is not UTF-8 is refused', async () => {
    const folder = folderOf({});
    writeFileSync(Buffer.concat([Buffer.from(`${folder.path}/bad`), Buffer.from([0xff])]), 'x');

    const read = await readPackageFolder(folder.path);

    expect(read.problems).toMatchObject([{ code: 'path_not_utf8' }]);
  });

  it.skipIf(process.getuid?.() === 0)('that cannot be read is refused, file by file', async () => {
    const folder = folderOf({ 'secret.txt': 'x', 'closed/a.txt': 'y' });
    chmodSync(join(folder.path, 'secret.txt'), 0o000);
    chmodSync(join(folder.path, 'closed'), 0o000);

    const read = await readPackageFolder(folder.path);
    chmodSync(join(folder.path, 'closed'), 0o700);

    expect(codes(read.problems)).toEqual([
      ['path_unreadable', 'closed/'],
      ['path_unreadable', 'secret.txt'],
    ]);
  });

  it('with a file of a terabyte is refused without reading it', async () => {
    const folder = folderOf({ 'huge.bin': '' });
    truncateSync(join(folder.path, 'huge.bin'), 2 ** 40);

    const checked = await checkPackageFolder(folder.path);

    expect(checked).toMatchObject({
      kind: 'invalid',
      problems: [{ code: 'package_too_large', path: 'huge.bin' }],
    });
  });

  it('with too many files is refused once, not once a file', async () => {
    const folder = folderOf({});
    for (let index = 0; index < LIMITS.packageFiles + 5; index += 1) {
      writeFileSync(join(folder.path, `${index}.txt`), '');
    }

    const checked = await checkPackageFolder(folder.path);

    expect(checked.kind === 'invalid' && codes(checked.problems)).toEqual([
      ['package_too_many_files', undefined],
    ]);
  });

  it('shows all its problems at once, each with its place', async () => {
    const folder = folderOf({
      'SKILL.md': '---\nname: hello\ndescription: Draw: pictures: now\n---\n',
      'a\\b.txt': 'x',
      'Read.md': 'x',
      'READ.md': 'y',
    });
    symlinkSync('/etc', join(folder.path, 'etc'));

    const checked = await checkPackageFolder(folder.path);

    const found = checked.kind === 'invalid' ? checked.problems.map(({ code }) => code) : [];
    expect(found).toEqual(
      expect.arrayContaining(['path_symlink', 'path_backslash', 'path_case_collision', 'frontmatter_yaml']),
    );
  });
});

describe('skills push', () => {
  const argvOf = (folder: string, url: string, ...more: string[]) => [
    'skills',
    'push',
    folder,
    '--endpoint',
    url,
    '--scope',
    'tenant=a',
    ...more,
  ];
  const digest = packageDigest(encodePackage(new Map([['SKILL.md', SKILL]])));
  const answer = (changes: Record<string, unknown> = {}) => ({
    json: sampleSkill({ digest, ...changes }),
    headers: { etag: '"e"' },
  });

  it('creates by PUT under the name in SKILL.md and shows revision and digest', async () => {
    const folder = folderOf({});
    const api = await startFakeApi({ putSkill: () => ({ ...answer(), status: 201 }) });

    const result = await runCli(argvOf(folder.path, api.url));

    expect(result.code).toBe(0);
    expect(result.stdout).toContain('hello, created');
    expect(result.stdout).toContain(digest);
    expect(api.requests.map(({ operation }) => operation)).toEqual(['getSkill', 'putSkill']);
    expect(JSON.parse(String(api.requests[1]?.body))).toEqual({ files: { 'SKILL.md': SKILL } });
  });

  it.each([
    ['unchanged', {}],
    ['updated', { revision: '01JDXAMP1E0000000000000002' }],
  ])('says that the skill is %s', async (outcome, changes) => {
    const folder = folderOf({});
    const api = await startFakeApi({ getSkill: () => answer(), putSkill: () => answer(changes) });

    const result = await runCli(argvOf(folder.path, api.url, '--json'));

    expect(result.json()).toMatchObject({ name: 'hello', outcome });
  });

  it('sends enabled: false with --disabled only', async () => {
    const folder = folderOf({});
    const api = await startFakeApi({ putSkill: () => answer({ enabled: false }) });

    await runCli(argvOf(folder.path, api.url, '--disabled'));

    expect(JSON.parse(String(api.requests[1]?.body)).enabled).toBe(false);
  });

  it('sends nothing with --dry-run, and needs no server for it', async () => {
    const folder = folderOf({});

    const result = await runCli(['skills', 'push', folder.path, '--dry-run', '--json']);

    expect(result.code).toBe(0);
    expect(result.json()).toMatchObject({ name: 'hello', digest, file_count: 1, published: false });
  });

  it('shows each problem as file:line:column and sends nothing', async () => {
    const folder = folderOf({ 'SKILL.md': '---\nname: hello\ndescription: Draw: pictures: now\n---\n' });
    const api = await startFakeApi({});

    const result = await runCli(argvOf(folder.path, api.url));

    expect(result.code).toBe(1);
    expect(result.stderr).toMatch(/2 problems \[invalid_package\]\n {2}SKILL\.md:3:14: YAML/);
    expect(api.requests).toEqual([]);
  });

  it('shows the problems that only the server finds in the same way', async () => {
    const folder = folderOf({});
    const problems = [{ code: 'package_too_large', message: 'too large for this backend' }];
    const api = await startFakeApi({
      putSkill: () => problem('invalid_package', '1 problem in the package', { problems }),
    });

    const result = await runCli(argvOf(folder.path, api.url));

    expect(result.code).toBe(1);
    expect(result.stderr).toContain('(package): too large for this backend [package_too_large]');
  });

  it('fails where the server stored something else', async () => {
    const folder = folderOf({});
    const api = await startFakeApi({ putSkill: () => answer({ digest: `sha256:${'0'.repeat(64)}` }) });

    const result = await runCli(argvOf(folder.path, api.url));

    expect(result.code).toBe(1);
    expect(result.stderr).toContain('but the folder is');
  });

  it.each([
    ['is not there', 'missing', /cannot read .*missing: ENOENT/],
    ['is a file', 'SKILL.md', /is not a folder/],
  ])('refuses a folder that %s', async (_case, path, message) => {
    const folder = folderOf({});

    const result = await runCli(['skills', 'push', path, '--dry-run'], { cwd: folder.path });

    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(message);
  });
});
