import { describe, expect, it } from 'vitest';
import { validatePackage } from '../../shared/domain/package/validate-package.ts';
import { skillMd } from '../support/skill-files.ts';

/** Codes for a package of SKILL.md and files with these paths. */
function codesOf(...paths: string[]): string[] {
  const files = new Map([['SKILL.md', skillMd('t1')], ...paths.map((path): [string, string] => [path, 'x'])]);
  return validatePackage('t1', files).problems.map((problem) => problem.code);
}

describe('A path of a package', () => {
  it.each([
    ['', ['path_empty']],
    ['/a', ['path_absolute']],
    ['//a', ['path_absolute', 'path_empty_segment']],
    ['a//b', ['path_empty_segment']],
    ['a/', ['path_empty_segment']],
    ['./SKILL.md', ['path_dot_segment']],
    ['sub/../SKILL.md', ['path_dot_segment']],
    ['scripts/..', ['path_dot_segment']],
    ['..', ['path_dot_segment']],
    ['a\\b', ['path_backslash']],
    ['..\\b', ['path_backslash']],
    ['a\0b', ['path_control_character']],
    ['a\nb', ['path_control_character']],
    ['a\u007fb', ['path_control_character']],
    ['a\u0085b', ['path_control_character']],
    ['C:/a', ['path_drive_letter']],
    ['c:a', ['path_drive_letter']],
    ['a\ud800', ['path_lone_surrogate']],
    ['.cognition/x', ['path_reserved']],
    ['.Cognition/x', ['path_reserved']],
    ['.cognition', ['path_reserved']],
    ['/.cognition/x', ['path_absolute', 'path_reserved']],
    ['.cognition/../x', ['path_dot_segment', 'path_reserved']],
    ['/', ['path_absolute']],
    ['//', ['path_absolute', 'path_empty_segment']],
    ['.', ['path_dot_segment']],
    ['a/./b', ['path_dot_segment']],
    ['a\n/../b', ['path_control_character', 'path_dot_segment']],
    [`${'d/'.repeat(256)}f`, ['path_too_long']],
    ['é'.repeat(128), ['path_segment_too_long']],
    ['/C:\\..\\\0', ['path_absolute', 'path_backslash', 'path_control_character']],
  ])('%j is refused with every reason that applies', (path, codes) => {
    expect(codesOf(path)).toEqual(codes);
  });

  it.each([
    'Makefile',
    '.config/x',
    'a/.cognition/x',
    'scripts/__init__.py',
    '...',
    'a..b/c',
    '.cognitions/x',
    '.cognitio',
    '.a/..b/c.',
    'é'.repeat(127),
    `${'d/'.repeat(255)}ff`,
    '__proto__',
    'constructor',
    '__proto__/constructor',
    'hasOwnProperty',
    '構成要件.md',
    'a b.md',
  ])('%j is accepted', (path) => {
    expect(codesOf(path)).toEqual([]);
  });

  it('is named in its problem, shortened and well-formed', () => {
    const { problems } = validatePackage(
      't1',
      new Map([
        ['SKILL.md', skillMd('t1')],
        [`/\ud800${'x'.repeat(9_000)}`, ''],
      ]),
    );

    expect(problems).toHaveLength(1);
    expect(problems[0]?.path?.isWellFormed()).toBe(true);
    expect(JSON.stringify(problems).length).toBeLessThan(2_000);
  });
});

describe('Paths of one package', () => {
  it.each([
    [['é.md', 'e\u0301.md'], ['path_duplicate']],
    [['a.md', 'A.md'], ['path_case_collision']],
    [['ß.md', 'SS.md'], ['path_case_collision']],
    [['ẞ.md', 'ß.md'], ['path_case_collision']],
    [['ẞ.md', 'ss.md'], ['path_case_collision']],
    [['ς', 'σ'], ['path_case_collision']],
    [['dir/a', 'Dir/b'], ['path_case_collision']],
    [['skill.md'], ['path_case_collision']],
    [['a', 'a/b'], ['path_file_is_directory']],
    [['a/b', 'a'], ['path_file_is_directory']],
    [['a/b/c', 'a/b'], ['path_file_is_directory']],
    [['SKILL.md/x'], ['path_file_is_directory']],
    [['a', 'A/b'], ['path_case_collision']],
  ])('%j clash', (paths, codes) => {
    expect(codesOf(...paths)).toEqual(codes);
  });

  it('that share a directory do not clash', () => {
    expect(codesOf('a/b', 'a/c', 'a/d/e', 'a-b', 'a.b')).toEqual([]);
  });

  it('get one report for a directory that clashes, not one a file', () => {
    const below = Array.from({ length: 50 }, (_, index) => `DIR/${index}`);

    expect(codesOf('dir/a', ...below)).toEqual(['path_case_collision']);
  });

  it('are put into NFC once, so that both spellings give one digest', () => {
    const digestOf = (path: string): unknown =>
      validatePackage(
        't1',
        new Map([
          ['SKILL.md', skillMd('t1')],
          [path, 'x'],
        ]),
      );

    expect(digestOf('e\u0301.md')).toEqual(digestOf('é.md'));
  });
});
