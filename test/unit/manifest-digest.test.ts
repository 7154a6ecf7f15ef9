import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, jsonDigest } from '../../shared/domain/manifest-digest.ts';

describe('Canonical JSON', () => {
  it('is RFC 8785: sorted keys, no white space, ECMAScript numbers, shortest escapes', () => {
    const value = { b: [1.0, 1e21, -0, 0.000001], a: { '\u20ac': '$', '\r': '\u000f', '1': true }, é: null };

    expect(canonicalJson(value)).toBe(
      '{"a":{"\\r":"\\u000f","1":true,"€":"$"},"b":[1,1e+21,0,0.000001],"é":null}',
    );
  });

  it('is independent of the order of keys', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.integer()), (value) => {
        const reversed = Object.fromEntries(Object.entries(value).reverse());

        expect(canonicalJson(reversed)).toBe(canonicalJson({ ...value }));
      }),
    );
  });

  it('leaves out what is undefined', () => {
    expect(canonicalJson({ a: undefined, b: 1 })).toBe('{"b":1}');
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, '\ud800', undefined])('refuses %s', (value) => {
    expect(() => canonicalJson(value)).toThrow();
  });

  it('has a digest that any other tool gives too', () => {
    // printf '{"a":1}' | sha256sum
    expect(jsonDigest({ a: 1 })).toBe(
      'sha256:015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862',
    );
  });
});
