import { describe, expect, it } from 'vitest';
import type { PackageProblem } from '../../shared/contracts/error-codes.ts';
import { LIMITS } from '../../shared/contracts/limits.ts';
import { type CheckedPackage, validatePackage } from '../../shared/domain/package/validate-package.ts';

const check = (text: string, name = 't1'): CheckedPackage =>
  validatePackage(name, new Map([['SKILL.md', text]]));
const yaml = (...lines: string[]): string => `---\n${lines.join('\n')}\n---\nbody\n`;
const good = (...lines: string[]): string => yaml('name: t1', 'description: d', ...lines);

const where = ({ code, line, column }: PackageProblem) => [code, line, column];
const problemsOf = (text: string) => check(text).problems.map(where);
const warningsOf = (text: string) => check(text).warnings.map(where);

function descriptionOf(text: string): string {
  const checked = check(text);
  if (checked.kind !== 'valid') throw new Error(JSON.stringify(checked.problems));
  return checked.description;
}

describe('Frontmatter that is accepted', () => {
  it.each([
    ['LF', '---\nname: t1\ndescription: Test.\n---\nbody\n'],
    ['CRLF', '---\r\nname: t1\r\ndescription: Test.\r\n---\r\nbody\r\n'],
    ['a BOM', '\ufeff---\nname: t1\ndescription: Test.\n---\n'],
    ['BOM and CRLF', '\ufeff---\r\nname: t1\r\ndescription: Test.\r\n---\r\n'],
    ['spaces after the fences', '---  \nname: t1\ndescription: Test.\n--- \t\nbody'],
    ['a closing fence at the end of file', '---\nname: t1\ndescription: Test.\n---'],
    ['--- lines in the body', '---\nname: t1\ndescription: Test.\n---\nbody\n---\nmore\n---\n'],
    ['quotes', '---\nname: "t1"\ndescription: \'Test.\'\n---\n'],
    ['a line that begins with ---', '---\nname: t1\n#\n# x\ndescription: Test.\n---\n---x\n'],
  ])('with %s', (_, text) => {
    expect(descriptionOf(text)).toBe('Test.');
  });

  it('keeps line breaks and tabs of a description, without \\r', () => {
    const text = '---\nname: t1\ndescription: |\n  one\n  two\tthree\n---\n';

    expect(descriptionOf(text)).toBe('one\ntwo\tthree\n');
    expect(descriptionOf(text.replaceAll('\n', '\r\n'))).toBe('one\ntwo\tthree\n');
  });

  it('keeps a description of 1024 characters, counted as people count', () => {
    expect(
      descriptionOf(yaml('name: t1', `description: ${'😀'.repeat(LIMITS.descriptionLength)}`)),
    ).toHaveLength(2_048);
  });

  it('may have every key of the format without a warning', () => {
    expect(
      warningsOf(
        good('license: MIT', 'compatibility: any', 'allowed-tools: Bash Read', 'metadata:', '  a: "1"'),
      ),
    ).toEqual([]);
  });

  it('reads YAML 1.2 core: yes and on are text', () => {
    expect(descriptionOf(yaml('name: t1', 'description: yes'))).toBe('yes');
  });
});

describe('Frontmatter that is refused', () => {
  it.each<[string, string, unknown[][]]>([
    ['missing', 'body\n', [['frontmatter_missing', 1, undefined]]],
    ['empty file', '', [['frontmatter_missing', 1, undefined]]],
    ['after an empty line', '\n---\nname: t1\n---\n', [['frontmatter_missing', 1, undefined]]],
    ['four dashes', '----\nname: t1\n---\n', [['frontmatter_missing', 1, undefined]]],
    ['unclosed', '---\nname: t1\ndescription: d\n', [['frontmatter_unclosed', 1, undefined]]],
    ['unclosed, only the fence', '---', [['frontmatter_unclosed', 1, undefined]]],
    [
      'indented closing fence',
      '---\nname: t1\ndescription: d\n ---\n',
      [['frontmatter_unclosed', 1, undefined]],
    ],
    [
      'nothing in it',
      '---\n---\n',
      [
        ['frontmatter_name_missing', 2, 1],
        ['frontmatter_description_missing', 2, 1],
      ],
    ],
    ['a list', yaml('- a'), [['frontmatter_not_a_map', 2, 1]]],
    ['a text', yaml('hello'), [['frontmatter_not_a_map', 2, 1]]],
    ['unquoted ": "', yaml('name: t1', 'description: Draw IMPORTANT: always'), [['frontmatter_yaml', 3, 14]]],
    ['an open quote', yaml('name: t1', 'description: "d'), [['frontmatter_yaml', 4, 1]]],
    [
      'a tab as indent',
      yaml('name: t1', 'metadata:', '\ta: b', 'description: d'),
      [['frontmatter_yaml', 4, 1]],
    ],
    ['a second document', yaml('name: t1', 'description: d', '--- more'), [['frontmatter_yaml', 4, 1]]],
    ['a directive', yaml('%YAML 1.1', '--- {name: t1, description: d}'), [['frontmatter_yaml', 2, 1]]],
    ['a duplicate key', good('name: t1'), [['frontmatter_duplicate_key', 4, 1]]],
    ['a nested duplicate key', good('metadata: {a: b, a: c}'), [['frontmatter_duplicate_key', 4, 18]]],
    ['an alias', yaml('name: t1', 'description: *d'), [['frontmatter_alias', 3, 14]]],
    ['an anchor', yaml('name: t1', 'description: &d e'), [['frontmatter_alias', 3, 14]]],
    ['a tag', yaml('name: t1', 'description: !important d'), [['frontmatter_tag', 3, 14]]],
    ['a core tag', yaml('name: !!str t1', 'description: d'), [['frontmatter_tag', 2, 7]]],
    ['no name', yaml('description: d'), [['frontmatter_name_missing', 2, 1]]],
    ['an empty name', yaml('name:', 'description: d'), [['frontmatter_name_missing', 2, 1]]],
    ['a number as name', yaml('name: 12', 'description: d'), [['frontmatter_name_not_string', 2, 7]]],
    ['a list as name', yaml('name: [t1]', 'description: d'), [['frontmatter_name_not_string', 2, 7]]],
    ['another name', yaml('name: t2', 'description: d'), [['frontmatter_name_mismatch', 2, 7]]],
    [
      'a bad name',
      yaml('name: T_1', 'description: d'),
      [
        ['frontmatter_name_invalid', 2, 7],
        ['frontmatter_name_mismatch', 2, 7],
      ],
    ],
    [
      'a control character in the name',
      yaml('name: "t1\\n"', 'description: d'),
      [
        ['frontmatter_control_character', 2, 7],
        ['frontmatter_name_mismatch', 2, 7],
      ],
    ],
    ['no description', yaml('name: t1'), [['frontmatter_description_missing', 2, 1]]],
    ['a null description', yaml('name: t1', 'description: ~'), [['frontmatter_description_missing', 3, 1]]],
    [
      'a number as description',
      yaml('name: t1', 'description: 2'),
      [['frontmatter_description_not_string', 3, 14]],
    ],
    [
      'a map as description',
      yaml('name: t1', 'description: {a: b}'),
      [['frontmatter_description_not_string', 3, 14]],
    ],
    ['an empty description', yaml('name: t1', 'description: ""'), [['frontmatter_description_empty', 3, 14]]],
    [
      'a blank description',
      yaml('name: t1', 'description: " \\n"'),
      [['frontmatter_description_empty', 3, 14]],
    ],
    [
      'a description of 1025 characters',
      yaml('name: t1', `description: ${'x'.repeat(1_025)}`),
      [['frontmatter_description_too_long', 3, 14]],
    ],
    [
      'a control character',
      yaml('name: t1', 'description: "a\\u0007"'),
      [['frontmatter_control_character', 3, 14]],
    ],
    ['an escaped NUL', yaml('name: t1', 'description: "a\\0"'), [['frontmatter_control_character', 3, 14]]],
    [
      'an escaped lone surrogate',
      yaml('name: t1', 'description: "a\\ud800"'),
      [['content_lone_surrogate', 3, 14]],
    ],
  ])('%s', (_, text, problems) => {
    expect(problemsOf(text)).toEqual(problems);
  });

  it('has the same lines with CRLF', () => {
    expect(problemsOf('---\r\nname: t1\r\ndescription: a: b\r\n---\r\n')).toEqual([
      ['frontmatter_yaml', 3, 14],
    ]);
  });

  it('names the file and the fix', () => {
    expect(check(yaml('name: t1', 'description: a: b')).problems).toMatchObject([
      { path: 'SKILL.md', message: expect.stringContaining('between quotes') },
    ]);
  });
});

describe('Frontmatter with a warning', () => {
  it.each<[string, string, unknown[][]]>([
    ['an unknown key', good('version: 1'), [['frontmatter_unknown_key', 4, 1]]],
    ['a key that is no text', good('1: x'), [['frontmatter_unknown_key', 4, 1]]],
    ['__proto__ as a key', good('__proto__: x'), [['frontmatter_unknown_key', 4, 1]]],
    ['a merge key', good('<<: {name: t2}'), [['frontmatter_unknown_key', 4, 1]]],
    ['allowed-tools as a list', good('allowed-tools: [Bash]'), [['frontmatter_allowed_tools_list', 4, 1]]],
    [
      'metadata with a number',
      good('metadata:', '  version: 1.0'),
      [['frontmatter_metadata_not_strings', 4, 1]],
    ],
    ['metadata as text', good('metadata: x'), [['frontmatter_metadata_not_strings', 4, 1]]],
    [
      'a zero-width space',
      yaml('name: t1', 'description: a\u200bb\u200b'),
      [['frontmatter_invisible_character', 3, 15]],
    ],
    [
      'an escaped one',
      yaml('name: t1', 'description: "a\\u200bb"'),
      [['frontmatter_invisible_character', 3, 1]],
    ],
    ['hidden tag characters', good('license: a\u{e0041}'), [['frontmatter_invisible_character', 4, 11]]],
    ['a direction override', good('license: a\u202e'), [['frontmatter_invisible_character', 4, 11]]],
  ])('%s is accepted', (_, text, warnings) => {
    expect(problemsOf(text)).toEqual([]);
    expect(warningsOf(text)).toEqual(warnings);
  });

  it('gets none for emoji with joiners', () => {
    expect(warningsOf(yaml('name: t1', 'description: 👨‍👩‍👧‍👦 🏳️‍🌈'))).toEqual([]);
  });

  it('has a bounded number of them', () => {
    const keys = Array.from({ length: 2_000 }, (_, index) => `k${index}: x`);

    expect(warningsOf(good(...keys)).length).toBeLessThanOrEqual(50);
  });
});

describe('Hostile frontmatter', () => {
  const deep = 30_000;
  it.each<[string, string]>([
    [
      'a billion laughs',
      good('a: &a [x, x]', ...Array.from({ length: 30 }, (_, i) => `k${i}: &b${i} [*a, *a, *a, *a]`)),
    ],
    ['deep flow lists', good(`metadata: ${'['.repeat(deep)}`)],
    ['deep closed flow lists', good(`metadata: ${'['.repeat(deep)}${']'.repeat(deep)}`)],
    ['deep flow maps', good(`metadata: ${'{a: '.repeat(deep / 3)}`)],
    ['deep block lists', good('metadata:', `  ${'- '.repeat(deep)}x`)],
    ['deep explicit keys', good('metadata:', `  ${'? '.repeat(deep)}x`)],
    ['deep indents', good('metadata:', ...Array.from({ length: 340 }, (_, i) => `${' '.repeat(i + 1)}a:`))],
    ['more than the limit', good(`license: ${'x'.repeat(LIMITS.frontmatterBytes)}`)],
    ['very many errors', good(...Array.from({ length: 5_000 }, () => 'a: b: c'))],
    ['very many tags', good(...Array.from({ length: 5_000 }, (_, i) => `k${i}: !x y`))],
  ])('%s: refused with few problems', (_, text) => {
    const { problems } = check(text);

    expect(problems.length).toBeGreaterThan(0);
    expect(problems.length).toBeLessThanOrEqual(20);
  });

  it('with as many distinct keys as fit is read, each key compared once', () => {
    const keys = Array.from({ length: 8_000 }, (_, index) => `${index.toString(36)}x: `);

    expect(problemsOf(good(...keys))).toEqual([]);
  });

  it('a body of a million fence-like lines is read in one pass', () => {
    expect(problemsOf(`---\nname: t1\ndescription: d\n${'---x\n'.repeat(1_000_000)}`)).toEqual([
      ['frontmatter_unclosed', 1, undefined],
    ]);
  });
});
