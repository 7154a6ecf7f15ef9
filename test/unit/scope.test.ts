import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../shared/contracts/limits.ts';
import type { EffectiveScope } from '../../shared/contracts/scope.ts';
import { isCognitionError } from '../../shared/domain/cognition-error.ts';
import { decodeScopeRef, encodeScopeRef, scopeFingerprint } from '../../shared/domain/scope.ts';

const scopes = fc
  .dictionary(
    fc.stringMatching(/^[a-z][a-z0-9_]{0,7}$/),
    fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._:@-]{0,11}$/),
    {
      minKeys: 1,
      maxKeys: 6,
    },
  )
  .map((scope): EffectiveScope => ({ ...scope }));

const ref = (json: string): string => Buffer.from(json).toString('base64url');

function refusalOf(candidate: string): string {
  try {
    decodeScopeRef(candidate);
  } catch (error) {
    if (isCognitionError(error, 'scope_not_allowed')) return error.message;
    throw error;
  }
  throw new Error(`accepted: ${candidate}`);
}

describe('A scope ref', () => {
  it('round-trips', () => {
    fc.assert(
      fc.property(scopes, (scope) => {
        expect(decodeScopeRef(encodeScopeRef(scope))).toEqual(scope);
      }),
    );
  });

  it('is the same whatever the order of the keys', () => {
    expect(encodeScopeRef({ tenant: 'a', project: 'b' })).toBe(encodeScopeRef({ project: 'b', tenant: 'a' }));
    expect(encodeScopeRef({ b2: 'x', b10: 'y' })).toBe(encodeScopeRef({ b10: 'y', b2: 'x' }));
  });

  it.each([
    ['nothing', ''],
    ['no JSON', ref('tenant')],
    ['not an object', ref('["a"]')],
    ['null', ref('null')],
    ['no entries', ref('{}')],
    ['white space', ref('{"tenant": "a"}')],
    ['keys out of order', ref('{"tenant":"a","project":"b"}')],
    ['a duplicate key', ref('{"tenant":"a","tenant":"a"}')],
    ['an escape', ref('{"tenant":"\\u0061"}')],
    ['padding', `${ref('{"tenant":"a"}')}=`],
    ['base64 that is not for URLs', Buffer.from('{"tenant":"a?>"}').toString('base64')],
    ['trailing bits', `${ref('{"tenant":"a"}').slice(0, -1)}R`],
    ['a line break', `${ref('{"tenant":"a"}')}\n`],
    ['percent-encoding', `%${ref('{"tenant":"a"}')}`],
    ['a bad key', ref('{"Tenant":"a"}')],
    ['__proto__', ref('{"__proto__":"a"}')],
    ['a bad value', ref('{"tenant":"a/b"}')],
    ['a value that is no text', ref('{"tenant":1}')],
    ['a wildcard', ref('{"tenant":"*"}')],
    [
      '17 entries',
      ref(JSON.stringify(Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${10 + i}`, 'v'])))),
    ],
    ['too many characters', ref(`{"tenant":"${'a'.repeat(LIMITS.scopeRefLength)}"}`)],
  ])('with %s is refused', (_, candidate) => {
    expect(refusalOf(candidate)).toContain('canonical');
  });

  it('is refused without repeating what it said', () => {
    expect(refusalOf(ref('{"tenant":"secret value"}'))).not.toContain('secret');
  });

  it('that is changed in any way names another scope or is refused', () => {
    fc.assert(
      fc.property(scopes, fc.nat(), fc.constantFrom(...'Aa0-_=+/ .'), (scope, at, character) => {
        const good = encodeScopeRef(scope);
        const index = at % good.length;
        const changed = good.slice(0, index) + character + good.slice(index + 1);
        fc.pre(changed !== good);

        expect(() => expect(decodeScopeRef(changed)).not.toEqual(scope)).toSatisfy(otherOrRefused);
      }),
    );
  });
});

function otherOrRefused(check: () => void): boolean {
  try {
    check();
    return true;
  } catch (error) {
    return isCognitionError(error, 'scope_not_allowed');
  }
}

describe('A scope fingerprint', () => {
  it('is the base32 SHA-256 of the canonical JSON', () => {
    // From Python: base64.b32encode(hashlib.sha256(...).digest()), lower case, without padding.
    expect(scopeFingerprint({ tenant: 'a', project: 'b' })).toBe(
      'ep3mn4rhzyblqdf2irjugsy722kg2lotuclxsdkq5xichw52xe7a',
    );
  });

  it('differs wherever the scopes differ', () => {
    fc.assert(
      fc.property(scopes, scopes, (a, b) => {
        expect(scopeFingerprint(a) === scopeFingerprint(b)).toBe(encodeScopeRef(a) === encodeScopeRef(b));
      }),
    );
  });
});
