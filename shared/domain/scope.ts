/**
 * The effective scope in its three forms: the map, the ref in URLs (base64url of its canonical JSON), and the
 * fingerprint in keys and logs (lower-case unpadded base32 of a SHA-256).
 */
import { createHash } from 'node:crypto';
import { LIMITS } from '../contracts/limits.ts';
import { type EffectiveScope, effectiveScopeSchema } from '../contracts/scope.ts';
import { CognitionError } from './cognition-error.ts';

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

const canonicalScope = (scope: EffectiveScope): string =>
  JSON.stringify(Object.fromEntries(Object.entries(scope).sort(([a], [b]) => (a < b ? -1 : 1))));

export function encodeScopeRef(scope: EffectiveScope): string {
  return Buffer.from(canonicalScope(scope), 'utf8').toString('base64url');
}

/**
 * Only the exact form that encodeScopeRef writes is a scope ref: decoded once, re-encoded, equal or refused.
 * @throws CognitionError `scope_not_allowed`, which never repeats the input.
 */
export function decodeScopeRef(ref: string): EffectiveScope {
  const refuse = (): CognitionError =>
    new CognitionError('scope_not_allowed', 'the scope ref in the path is not the canonical form of a scope');
  if (ref.length > LIMITS.scopeRefLength) throw refuse();
  const text = Buffer.from(ref, 'base64url').toString('utf8');
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw refuse();
  }
  const scope = effectiveScopeSchema.safeParse(json);
  if (!scope.success || encodeScopeRef(scope.data) !== ref) throw refuse();
  return scope.data;
}

export function scopeFingerprint(scope: EffectiveScope): string {
  const hash = createHash('sha256')
    .update(`cognition:scope:v1\n${canonicalScope(scope)}`)
    .digest();
  return base32(hash);
}

function base32(bytes: Uint8Array): string {
  let bits = 0;
  let value = 0;
  let text = '';
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xffff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32.charAt((value >> bits) & 31);
    }
  }
  return bits > 0 ? text + BASE32.charAt((value << (5 - bits)) & 31) : text;
}
