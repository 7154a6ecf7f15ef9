import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseStrictJson } from '../../functions/runtime/strict-json.ts';
import { isCognitionError } from '../../shared/domain/cognition-error.ts';

const parse = (text: string | Uint8Array, packageMembers = false): unknown =>
  parseStrictJson(Buffer.from(text), { packageMembers });

function refusal(text: string | Uint8Array, packageMembers = false) {
  try {
    parse(text, packageMembers);
  } catch (error) {
    if (isCognitionError(error, 'invalid_request'))
      return { detail: error.message, errors: error.details.errors };
    throw error;
  }
  throw new Error('not refused');
}

describe('strict JSON', () => {
  it('gives the value that JSON.parse gives, for every JSON value', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8, noUnicodeString: false }), (text) => {
        fc.pre(!text.includes('__proto__') && text.isWellFormed() && !/\\ud[89a-f]/i.test(text));
        expect(parse(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('throws nothing but invalid_request, whatever the bytes', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 60 }),
          fc.string().map((s) => Buffer.from(`{"a":${s}`)),
        ),
        (bytes) => {
          try {
            parse(bytes);
          } catch (error) {
            expect(isCognitionError(error, 'invalid_request')).toBe(true);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it.each([
    ['{"a":1,\n "b": nope}', 'line 2, column 7'],
    ['{"a":1', 'line 1, column 7'],
    ['{"a" 1}', 'line 1, column 6'],
    ['{"a":1} x', 'line 1, column 9'],
    ['[1,]', 'line 1, column 4'],
    ['{"a":1,}', 'line 1, column 8'],
    ["{'a':1}", 'line 1, column 2'],
    ['{"a": "x\ny"}', 'line 1, column 7'],
    ['{"a": 01}', 'line 1, column'],
    ['{"a": NaN}', 'line 1, column 7'],
    ['// hi\n{}', 'line 1, column 1'],
    ['nope', 'line 1, column 1'],
    ['   ', 'line 1, column'],
  ])('%j is refused at %s', (text, place) => {
    expect(refusal(text).detail).toContain(place);
  });

  it('an empty body is refused', () => {
    expect(refusal('').detail).toContain('empty');
  });

  it('a key given twice is refused with pointer, line and column', () => {
    const { errors, detail } = refusal('{"agent": "a",\n "command": {"skill": "s", "skill": "t"}}');

    expect(errors).toEqual([
      { pointer: '/command/skill', message: 'line 2, column 28: the key is given twice; keep one' },
    ]);
    expect(detail).toContain('/command/skill');
  });

  it.each(['{"a":1,"\\u0061":2}', '{"constructor":1,"constructor":2}', '{"__proto__x":{},"__proto__x":1}'])(
    'the same key written otherwise is still the same key: %s',
    (text) => {
      expect(refusal(text).detail).toContain('twice');
    },
  );

  it('equal keys in different objects are fine', () => {
    expect(parse('[{"a":1},{"a":{"a":2}}]')).toEqual([{ a: 1 }, { a: { a: 2 } }]);
  });

  it.each([
    [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'column 3'],
    [Buffer.concat([Buffer.from('{"a":"\ufffd'), Buffer.from([0xc3]), Buffer.from('"}')]), 'column 8'],
    [Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 'column 2'],
  ])('bytes that are not UTF-8 are refused where they are', (bytes, place) => {
    expect(refusal(bytes).detail).toMatch(new RegExp(`${place}: not UTF-8`));
  });

  it('a byte order mark is no part of the value', () => {
    expect(parse('\ufeff{"a":1}')).toEqual({ a: 1 });
  });

  it.each(['{"a":"\\ud800"}', '{"a":["\\udc00"]}', '{"\\ud83d":1}'])(
    'a lone surrogate is refused: %s',
    (text) => {
      expect(refusal(text).detail).toContain('lone surrogate');
    },
  );

  it('an escaped pair is text', () => {
    expect(parse('"\\ud83d\\ude00"')).toBe('😀');
  });

  it('lone surrogates in a package are left to the package rules', () => {
    const text = '{"files":{"a\\ud800":"\\udfff"},"content":"\\ud800"}';

    expect(parse(text, true)).toEqual({ files: { 'a\ud800': '\udfff' }, content: '\ud800' });
    expect(refusal('{"name":"\\ud800"}', true).errors?.[0]?.pointer).toBe('/name');
  });

  it('a file may be called __proto__; no other member may', () => {
    const parsed = parse('{"files":{"__proto__":"kept","constructor":"too"}}', true);

    expect(Object.entries((parsed as { files: object }).files)).toEqual([
      ['__proto__', 'kept'],
      ['constructor', 'too'],
    ]);
    for (const text of [
      '{"__proto__":{"enabled":true}}',
      '{"env":{"__proto__":"x"}}',
      '{"files":{"a":{"__proto__":1}}}',
    ]) {
      expect(refusal(text, true).detail).toContain('__proto__');
    }
    expect(refusal('{"files":{"__proto__":"x"}}').detail).toContain('/files/__proto__');
  });

  it.each(['[', '{"a":', '[{"a":'])('a depth bomb of %s is refused', (part) => {
    expect(refusal(part.repeat(1_000_000)).detail).toContain('nested more than 64 levels deep');
  });

  it('64 levels are fine', () => {
    expect(parse('['.repeat(64) + ']'.repeat(64))).toBeInstanceOf(Array);
  });

  it.each(['1', '[]', '{"a":1}'])('a body of more than 100,000 values such as %s is refused', (value) => {
    const many = (count: number): string => `[${Array(count).fill(value).join(',')}]`;

    expect(refusal(many(100_001)).detail).toContain('more than 100000 values');
    expect(parse(many(40_000))).toHaveLength(40_000);
  });
});
