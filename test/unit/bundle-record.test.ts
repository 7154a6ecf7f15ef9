import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { isBuilt, recordBuild } from '../../infra/functions/build-record.ts';

const FOR_AWS = { unsafe_caller: false } as const;

let root = '';
let out = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'cognition-record-'));
  out = join(root, 'out');
  mkdirSync(join(out, 'skills'), { recursive: true });
  writeFileSync(join(root, 'skills.ts'), 'source');
  writeFileSync(join(out, 'skills', 'index.mjs'), 'code');
  recordBuild(root, out, { form: FOR_AWS, inputs: ['skills.ts'], outputs: ['skills/index.mjs'] });
});

describe('the record of a build', () => {
  it('is true while nothing has changed, in a copy of its folder too', () => {
    const copy = join(root, 'copy');
    cpSync(out, copy, { recursive: true });

    expect(isBuilt(root, out, FOR_AWS)).toBe(true);
    rmSync(out, { recursive: true });
    expect(isBuilt(root, copy, FOR_AWS)).toBe(true);
  });

  it.each([
    ['a source', () => writeFileSync(join(root, 'skills.ts'), 'other')],
    ['code', () => writeFileSync(join(out, 'skills', 'index.mjs'), 'other')],
    ['the record itself', () => writeFileSync(join(out, 'build.json'), '{"skills.ts":"x"}')],
  ])('is false after a change of %s', (_what, change) => {
    change();

    expect(isBuilt(root, out, FOR_AWS)).toBe(false);
  });

  it('is false of another form', () => {
    expect(isBuilt(root, out, { unsafe_caller: true })).toBe(false);
  });

  it.each(['skills.ts', 'out/skills/index.mjs', 'out/build.json', 'out'])('is false without %s', (path) => {
    rmSync(join(root, path), { recursive: true });

    expect(isBuilt(root, out, FOR_AWS)).toBe(false);
  });
});
