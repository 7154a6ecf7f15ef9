/** Digests of JSON, over its RFC 8785 form: key order and white space of whoever wrote it do not matter. */
import canonicalize from 'canonicalize';
import type { Manifest } from '../contracts/manifest.ts';
import { sha256Hex } from './sha256.ts';

/**
 * RFC 8785 JSON. Undefined fields are left out, as JSON does.
 * @throws Error for what that JSON cannot say: NaN, a lone surrogate, undefined itself.
 */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new Error('there is no JSON for this value');
  return text;
}

/** `sha256:` and lower hex over the RFC 8785 JSON of a value. */
export const jsonDigest = (value: unknown): string => `sha256:${sha256Hex(canonicalJson(value))}`;

/** Run id and times are not part of a manifest, so equal runs have equal digests. */
export const manifestDigest = (manifest: Manifest): string => jsonDigest(manifest);
