import fc from 'fast-check';
import { expect, test } from 'vitest';
import { wholeCharacters } from '../../functions/sandboxd/command/stream-capture.ts';
import { pathProblem } from '../../functions/sandboxd/materialize/safe-path.ts';

test('text that is cut anywhere ends in a whole character and loses less than one', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 20 }), fc.nat(), (text, at) => {
      const bytes = Buffer.from(text.toWellFormed());
      const length = bytes.length === 0 ? 0 : at % (bytes.length + 1);
      const cut = wholeCharacters(bytes, length);
      expect(bytes.toString('utf8', 0, cut)).not.toContain(
        cut === bytes.length ? '\ud800' : '\ufffd'.repeat(text.includes('\ufffd') ? 99 : 1),
      );
      expect(length - cut).toBeLessThan(4);
    }),
  );
});

test('bytes that are no text are kept as they are', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 8 }), (bytes) => {
      const cut = wholeCharacters(bytes, bytes.length);
      expect(bytes.length - cut).toBeLessThan(4);
      // What is left out is the beginning of a character.
      if (cut < bytes.length) expect(bytes[cut]).toBeGreaterThanOrEqual(0xc2);
    }),
  );
  expect(wholeCharacters(Buffer.from([0xff, 0x80, 0x80]), 3)).toBe(3);
});

test('a path that passes stays below the folder it is joined to', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('a', '.', '..', '', '/', '\\', '\0', 'é', '\ud800', 'b c'), { maxLength: 6 }),
      (parts) => {
        const path = parts.join('/');
        if (pathProblem(path) !== undefined) return;
        expect(new URL(`file:///root/${encodeURI(path)}`).pathname.startsWith('/root/')).toBe(true);
        expect(path.split('/').some((segment) => ['', '.', '..'].includes(segment))).toBe(false);
      },
    ),
  );
});
