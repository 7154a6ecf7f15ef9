import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canonicalLength,
  decodePackage,
  encodePackage,
  NotCanonical,
  packageDigest,
} from '../../shared/domain/canonical-package.ts';
import { validatePackage } from '../../shared/domain/package/validate-package.ts';
import vectors from './digest-vectors.json' with { type: 'json' };

const text = fc.string({ unit: 'grapheme' });
const file = fc.tuple(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }), text);
const files = fc
  .uniqueArray(file, { selector: ([path]) => path, maxLength: 8 })
  .map((entries) => new Map(entries));

const sorted = (map: ReadonlyMap<string, string>) => [...map].toSorted(([a], [b]) => (a < b ? -1 : 1));

describe('The digest vectors', () => {
  it.each(vectors)('$name', ({ files: given, canonical_bytes, digest }) => {
    const checked = validatePackage('t1', new Map(Object.entries(given as Record<string, string>)));

    if (checked.kind !== 'valid') throw new Error(JSON.stringify(checked.problems));
    expect(checked.bytes.byteLength).toBe(canonical_bytes);
    expect(checked.digest).toBe(digest);
  });
});

describe('Canonical bytes', () => {
  it('are independent of the order of the files', () => {
    fc.assert(
      fc.property(files, fc.infiniteStream(fc.nat()), (map, keys) => {
        const shuffled = [...map]
          .map((entry) => ({ entry, key: keys.next().value }))
          .toSorted((a, b) => a.key - b.key);

        expect(encodePackage(new Map(shuffled.map(({ entry }) => entry)))).toEqual(encodePackage(map));
      }),
    );
  });

  it('decode to the same files', () => {
    fc.assert(
      fc.property(files, (map) => {
        const decoded = decodePackage(encodePackage(map)).map(({ path, content }): [string, string] => [
          path,
          Buffer.from(content).toString(),
        ]);

        expect(sorted(new Map(decoded))).toEqual(sorted(map));
      }),
    );
  });

  it('are injective: equal bytes mean equal files', () => {
    fc.assert(
      fc.property(files, files, (a, b) => {
        const same = JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));

        expect(encodePackage(a).equals(encodePackage(b))).toBe(same);
      }),
    );
  });

  it('tell a path from content and one file from two', () => {
    const packages = [
      [['ab', 'c']],
      [['a', 'bc']],
      [
        ['a', 'b'],
        ['c', ''],
      ],
      [
        ['a', ''],
        ['b', 'c'],
      ],
      [],
    ];
    const digests = packages.map((entries) =>
      packageDigest(encodePackage(new Map(entries as [string, string][]))),
    );

    expect(new Set(digests).size).toBe(packages.length);
  });

  it('have the length that was foretold', () => {
    fc.assert(
      fc.property(files, (map) => {
        const contents = [...map.values()].reduce((sum, content) => sum + Buffer.byteLength(content), 0);

        expect(canonicalLength([...map.keys()], contents)).toBe(encodePackage(map).length);
      }),
    );
  });

  it('are read only when a writer could have written them', () => {
    fc.assert(
      fc.property(files, fc.nat(), fc.integer({ min: 1, max: 255 }), (map, at, flip) => {
        const bytes = encodePackage(map);
        bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ flip;

        const again = reencode(bytes);

        expect(again === undefined || again.equals(bytes)).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each<[string, (bytes: Buffer) => Buffer]>([
    ['nothing', () => Buffer.alloc(0)],
    [
      'another magic',
      (bytes) => Buffer.from(bytes.toString('latin1').replace('CSKPKG1', 'CSKPKG2'), 'latin1'),
    ],
    ['a trailing byte', (bytes) => Buffer.concat([bytes, Buffer.from([0])])],
    ['a cut content', (bytes) => bytes.subarray(0, -1)],
    ['a duplicate', (bytes) => Buffer.concat([bytes, bytes.subarray(8)])],
    [
      'the wrong order',
      () =>
        Buffer.concat([encodePackage(new Map([['b', '']])), encodePackage(new Map([['a', '']])).subarray(8)]),
    ],
    [
      'a path that is not UTF-8',
      () =>
        Buffer.concat([Buffer.from('CSKPKG1\n'), Buffer.from([0, 0, 0, 1, 0xff, 0, 0, 0, 0, 0, 0, 0, 0])]),
    ],
    [
      'a length of 2^64 - 1',
      () => Buffer.concat([Buffer.from('CSKPKG1\n'), Buffer.from([0, 0, 0, 1, 0x61]), Buffer.alloc(8, 0xff)]),
    ],
  ])('with %s are refused', (_, damage) => {
    expect(() => decodePackage(damage(encodePackage(new Map([['a', 'x']]))))).toThrow(NotCanonical);
  });

  it('keep a BOM in a path apart from none', () => {
    const [entry] = decodePackage(encodePackage(new Map([['\ufeffa', 'x']])));

    expect(entry?.path).toBe('\ufeffa');
  });
});

/** Undefined when refused. */
function reencode(bytes: Uint8Array): Buffer | undefined {
  try {
    const entries = decodePackage(bytes);
    // Contents that are no UTF-8 cannot be written from text, so only paths and framing are compared there.
    const parts = entries.flatMap(({ path, content }) => {
      const head = Buffer.alloc(4);
      head.writeUInt32BE(Buffer.byteLength(path));
      const size = Buffer.alloc(8);
      size.writeBigUInt64BE(BigInt(content.byteLength));
      return [head, Buffer.from(path), size, content];
    });
    return Buffer.concat([Buffer.from('CSKPKG1\n'), ...parts]);
  } catch (error) {
    if (error instanceof NotCanonical) return undefined;
    throw error;
  }
}
