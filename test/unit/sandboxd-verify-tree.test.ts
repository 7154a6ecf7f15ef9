import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createMaterialization } from '../../functions/sandboxd/materialize/materialization.ts';
import { createPackageWriter } from '../../functions/sandboxd/materialize/package-writer.ts';
import { packageDigestOnDisk } from '../../functions/sandboxd/materialize/verify-tree.ts';
import { encodePackage, packageDigest } from '../../shared/domain/canonical-package.ts';
import { sha256Hex } from '../../shared/domain/sha256.ts';

let root: string;
beforeEach(() => {
  process.umask(0);
  root = mkdtempSync(join(tmpdir(), 'sandboxd-'));
  for (const folder of ['skills', 'workspace', 'outputs']) mkdirSync(join(root, folder));
});
afterEach(() => {
  execFileSync('chmod', ['-R', 'u+rwx', root]);
  rmSync(root, { recursive: true });
});

const folders = () => ({
  skills: join(root, 'skills'),
  workspace: join(root, 'workspace'),
  outputs: join(root, 'outputs'),
});

test('what is read back from disk has the digest of what was written, whatever the paths and contents', () => {
  const segment = fc.stringMatching(/^[a-zA-Z0-9_é🙂～]{1,6}$/u);
  const files = fc.dictionary(
    fc.array(segment, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/')),
    fc.string({ unit: 'grapheme' }),
  );
  let round = 0;
  fc.assert(
    fc.property(files, fc.integer({ min: 1, max: 40 }), (given, size) => {
      const paths = Object.keys(given);
      fc.pre(!paths.some((path) => paths.some((other) => other.startsWith(`${path}/`))));
      const bytes = encodePackage(new Map(Object.entries(given)));
      round += 1;
      const target = join(root, 'skills', String(round));
      fc.pre(paths.length > 0);
      const writer = createPackageWriter(target);
      for (let at = 0; at < bytes.length; at += size) writer.write(bytes.subarray(at, at + size));
      expect(writer.finish()).toBe(paths.length);
      expect(packageDigestOnDisk(target)).toBe(packageDigest(bytes));
    }),
    { numRuns: 60 },
  );
});

const FILES = { 'SKILL.md': 'text', 'scripts/run.sh': '#!/bin/sh\n', 'scripts/lib/a.py': 'x' };

function filled() {
  const materialization = createMaterialization(folders());
  const bytes = encodePackage(new Map(Object.entries(FILES)));
  const upload = materialization.startPackage('demo', packageDigest(bytes));
  upload.write(bytes);
  upload.finish();
  materialization.putInput('data/in.csv', sha256Hex('1,2'), Buffer.from('1,2'));
  const request = {
    packages: [{ name: 'demo', digest: packageDigest(bytes) }],
    inputs: [{ path: 'data/in.csv', sha256: sha256Hex('1,2') }],
  };
  return { materialization, request };
}

test('an untouched tree is sealed as asked', () => {
  const { materialization, request } = filled();

  expect(materialization.seal(request)).toEqual(request);
});

const at = (path: string) => join(root, path);
test.each([
  ['an altered byte', () => rewrite('skills/demo/SKILL.md', 'texT', 0o444)],
  ['a longer file', () => rewrite('skills/demo/SKILL.md', 'text!', 0o444)],
  ['an emptied file', () => rewrite('skills/demo/SKILL.md', '', 0o444)],
  ['a missing file', () => rmSync(at('skills/demo/SKILL.md'))],
  ['a file more', () => writeFileSync(at('skills/demo/extra'), '', { mode: 0o444 })],
  ['a folder moved', () => renameSync(at('skills/demo/scripts/lib'), at('skills/demo/lib'))],
  ['a writable file', () => chmodSync(at('skills/demo/SKILL.md'), 0o644)],
  ['an executable text', () => chmodSync(at('skills/demo/SKILL.md'), 0o555)],
  ['a set-user-id script', () => chmodSync(at('skills/demo/scripts/run.sh'), 0o4555)],
  ['a link in place of a file', () => relink('skills/demo/SKILL.md', '/etc/passwd')],
  [
    'a link in place of a folder',
    () => {
      renameSync(at('skills/demo/scripts'), at('moved'));
      symlinkSync(at('moved'), at('skills/demo/scripts'));
    },
  ],
  ['a hard link', () => linkSync(at('skills/demo/SKILL.md'), at('elsewhere'))],
  ['a pipe', () => execFileSync('mkfifo', [at('skills/demo/pipe')])],
  ['a package more', () => mkdirSync(at('skills/other'))],
  ['an altered input', () => rewrite('workspace/inputs/data/in.csv', '1,3', 0o444)],
  ['an input more', () => writeFileSync(at('workspace/inputs/more'), '', { mode: 0o444 })],
  ['a file beside the inputs', () => writeFileSync(at('workspace/left'), '')],
  ['an output before any command', () => writeFileSync(at('outputs/left'), '')],
])('%s is found by the seal', (_, tamper) => {
  const { materialization, request } = filled();
  tamper();

  expect(() => materialization.seal(request)).toThrow(expect.objectContaining({ code: 'digest_mismatch' }));
});

function rewrite(path: string, text: string, mode: number): void {
  rmSync(at(path));
  writeFileSync(at(path), text, { mode });
}

function relink(path: string, to: string): void {
  rmSync(at(path));
  symlinkSync(to, at(path));
}
