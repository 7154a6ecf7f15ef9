import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../shared/contracts/limits.ts';
import { decodePackage } from '../../shared/domain/canonical-package.ts';
import { type CheckedPackage, validatePackage } from '../../shared/domain/package/validate-package.ts';
import { skillMd } from '../support/skill-files.ts';

const check = (files: Record<string, string>, name = 't1'): CheckedPackage =>
  validatePackage(name, new Map([['SKILL.md', skillMd(name)], ...Object.entries(files)]));

const codesOf = ({ problems }: CheckedPackage): string[] => problems.map(({ code }) => code);

describe('A package', () => {
  it('keeps each text byte for byte: CRLF, BOM, NUL, no final newline, empty', () => {
    const texts = { crlf: 'a\r\nb\r\n', bom: '\ufeffa', nul: 'a\0b', open: 'end', empty: '' };

    const checked = check(texts);

    if (checked.kind !== 'valid') throw new Error(JSON.stringify(checked.problems));
    const stored = new Map(
      decodePackage(checked.bytes).map(({ path, content }) => [path, Buffer.from(content).toString()]),
    );
    expect(stored).toEqual(new Map(Object.entries({ 'SKILL.md': skillMd('t1'), ...texts })));
    expect(checked.file_count).toBe(6);
    expect(checked.size_bytes).toBe(Buffer.byteLength(skillMd('t1')) + 6 + 4 + 3 + 3);
  });

  it('keeps a file that is called __proto__', () => {
    const checked = validatePackage(
      't1',
      new Map([
        ['SKILL.md', skillMd('t1')],
        ['__proto__', 'x'],
        ['constructor', 'y'],
      ]),
    );

    if (checked.kind !== 'valid') throw new Error(JSON.stringify(checked.problems));
    expect(decodePackage(checked.bytes).map(({ path }) => path)).toEqual([
      'SKILL.md',
      '__proto__',
      'constructor',
    ]);
  });

  it('is refused with all its problems at once', () => {
    const files = new Map([
      ['SKILL.md', '---\nname: Other\n---\n'],
      ['/a', '\ud800'],
      ['b', ''],
      ['B', ''],
    ]);

    expect(codesOf(validatePackage('t1', files)).toSorted()).toEqual([
      'content_lone_surrogate',
      'frontmatter_description_missing',
      'frontmatter_name_invalid',
      'frontmatter_name_mismatch',
      'path_absolute',
      'path_case_collision',
    ]);
  });

  it('with a lone surrogate is refused with file, line and column', () => {
    const { problems } = check({ 'a.md': 'one 😀\ntwo \ud83d three' });

    expect(problems).toMatchObject([{ code: 'content_lone_surrogate', path: 'a.md', line: 2, column: 5 }]);
  });

  it.each([
    [{}, undefined],
    [{ 'skill.md': '' }, 'skill.md'],
    [{ 'sub/SKILL.md': '' }, 'sub/SKILL.md'],
  ])('without SKILL.md at its root is told so: %j', (files, path) => {
    const { problems } = validatePackage('t1', new Map(Object.entries(files)));

    expect(problems).toMatchObject([{ code: 'frontmatter_no_skill_md', ...(path ? { path } : {}) }]);
  });

  it.each(['Bad_Name', '', 'a--b', '-a', 'a'.repeat(65), '__proto__', '../x'])(
    'of the skill name %j is refused once, with the other problems',
    (name) => {
      expect(codesOf(validatePackage(name, new Map([['SKILL.md', skillMd('t1')]])))).toEqual([
        'frontmatter_name_mismatch',
        'frontmatter_name_invalid',
      ]);
    },
  );

  it('at its limits is accepted, and one byte or file above them refused', () => {
    const room = LIMITS.packageBytes - 8 - (12 + 8 + Buffer.byteLength(skillMd('t1'))) - (12 + 1);
    const cjk = '好'.repeat(Math.floor(room / 3));
    const many = Object.fromEntries(
      Array.from({ length: LIMITS.packageFiles - 1 }, (_, index) => [`f${index}`, '']),
    );

    expect(check({ a: 'x'.repeat(room) })).toMatchObject({ kind: 'valid' });
    expect(codesOf(check({ a: 'x'.repeat(room + 1) }))).toEqual(['package_too_large']);
    expect(check({ a: cjk })).toMatchObject({ kind: 'valid' });
    expect(codesOf(check({ a: `${cjk}好` }))).toEqual(['package_too_large']);
    expect(check(many)).toMatchObject({ kind: 'valid', file_count: LIMITS.packageFiles });
    expect(codesOf(check({ ...many, more: '' }))).toEqual(['package_too_many_files']);
  });

  it('over the bound of the package store is refused with that bound', () => {
    const { problems } = validatePackage('t1', new Map([['SKILL.md', skillMd('t1')]]), { max_bytes: 60 });

    expect(problems).toMatchObject([
      { code: 'package_too_large', message: expect.stringContaining('at most 60') },
    ]);
  });

  it('with 100,000 bad files is answered with bounded problems and their number', () => {
    const files = new Map(
      Array.from({ length: 100_000 }, (_, index) => [`/\\${'p'.repeat(600)}${index}`, 'x']),
    );

    const checked = validatePackage('t1', files);

    if (checked.kind !== 'invalid') throw new Error('should be invalid');
    expect(checked.problem_count).toBeGreaterThan(checked.problems.length);
    expect(JSON.stringify(checked.problems).length).toBeLessThan(LIMITS.responseBodyBytes);
  });

  it('lists no more problems than fit into an answer, whatever JSON makes of their paths', () => {
    const bad = Array.from({ length: 1_200 }, (_, n) => [`${'\u0001'.repeat(900)}${n}`, 'x']);

    const { problems, warnings } = check(Object.fromEntries(bad));

    expect(problems.length).toBeGreaterThan(300);
    expect(Buffer.byteLength(JSON.stringify({ problems, warnings }))).toBeLessThan(LIMITS.responseBodyBytes);
  });

  it('with a path of eight million segments is refused like any other', () => {
    expect(codesOf(check({ ['a/'.repeat(8_000_000)]: '' }))).toEqual(['path_too_long', 'path_empty_segment']);
  });
});

describe('Validation', () => {
  const anyText = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: 'grapheme' }),
    fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
  );
  const yamlish = fc
    .array(
      fc.constantFrom(
        'name',
        'description',
        ': ',
        ':',
        '\n',
        '\r\n',
        '  ',
        '- ',
        '[',
        ']',
        '{',
        '}',
        '"',
        "'",
        '|',
        '>',
        '|2-',
        '&a',
        '*a',
        '!!str ',
        '!t ',
        '? ',
        '%YAML 1.1',
        '---',
        '...',
        '#c',
        '\t',
        '\\',
        '\ufeff',
        '\ud800',
        '\0',
        'null',
        '~',
        '0x1',
        '<<',
        ',',
      ),
      { maxLength: 60 },
    )
    .map((parts) => parts.join(''));
  const skillText = fc.oneof(
    anyText,
    yamlish,
    yamlish.map((yaml) => `---\n${yaml}\n---\n`),
    anyText.map((yaml) => `---\n${yaml}\n---`),
  );

  it('never throws, whatever the input', () => {
    fc.assert(
      fc.property(
        anyText,
        fc.array(fc.tuple(anyText, anyText), { maxLength: 5 }),
        skillText,
        (name, files, skill) => {
          const checked = validatePackage(name, new Map([['SKILL.md', skill], ...files]));

          expect(checked.kind === 'valid').toBe(checked.problems.length === 0);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('accepts a package exactly when its bytes decode to the same files', () => {
    const segment = fc.stringMatching(/^[a-z_é]{1,8}$/).map((text) => text.normalize('NFC'));
    const paths = fc
      .uniqueArray(segment, { maxLength: 8 })
      .map((names) => names.map((name) => `dir/${name}`));

    fc.assert(
      fc.property(paths, fc.string({ unit: 'grapheme' }), (names, text) => {
        const files = new Map([
          ['SKILL.md', skillMd('t1')],
          ...names.map((name): [string, string] => [name, text]),
        ]);

        const checked = validatePackage('t1', files);

        if (checked.kind !== 'valid') throw new Error(JSON.stringify(checked.problems));
        const decoded = decodePackage(checked.bytes).map(({ path, content }) => [
          path,
          Buffer.from(content).toString(),
        ]);
        expect(new Map(decoded.map(([path = '', content = '']) => [path, content]))).toEqual(files);
      }),
    );
  });
});
