import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkCommandIdentity } from '../../functions/sandboxd/command/command-identity.ts';
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

const IDENTITY = {
  caps: '0000000000000000',
  nnp: '1',
  seccomp: '2',
  filters: '2',
  links: 'lo',
  pids: '1',
  inet: '97',
  inet6: '97',
  netlink: '97',
  skills: '30',
  inputs: '30',
  root: '30',
};

test('the identity that must be passes', () => {
  expect(() => checkCommandIdentity(new Map(Object.entries(IDENTITY)), 1)).not.toThrow();
});

test.each([
  ['caps', '0000000000000001'],
  ['nnp', '0'],
  ['seccomp', '0'],
  ['filters', '1'],
  ['links', 'lo,eth0'],
  ['pids', '2'],
  ['inet', '0'],
  ['inet6', '0'],
  ['netlink', '0'],
  ['skills', '0'],
  ['inputs', '13'],
  ['root', '0'],
])('an identity whose %s is %s is refused by name', (key, value) => {
  expect(() => checkCommandIdentity(new Map(Object.entries({ ...IDENTITY, [key]: value })), 1)).toThrow(
    `${key} is ${value}`,
  );
});

test('an identity that says nothing is refused', () => {
  expect(() => checkCommandIdentity(new Map(), 1)).toThrow('caps is unknown');
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
