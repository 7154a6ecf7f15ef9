/**
 * How calls to a sandbox are signed: Ed25519 over method, path with query, body hash, sandbox, run, nonce and
 * expiry, one a line. The daemon holds only the public key, so nothing in the task can call another one.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';

export interface SignedCall {
  readonly method: string;
  /** Path with query, exactly as sent. */
  readonly target: string;
  /** Lower hex SHA-256 of the body. */
  readonly content_sha256: string;
  readonly sandbox_id: string;
  readonly run_id: string;
  readonly nonce: string;
  /** Unix seconds, as a decimal string. */
  readonly expires: string;
}

const message = (call: SignedCall): Buffer =>
  Buffer.from(
    [
      'cognition:sandbox-call:v1',
      call.method,
      call.target,
      call.content_sha256,
      call.sandbox_id,
      call.run_id,
      call.nonce,
      call.expires,
    ].join('\n'),
    'utf8',
  );

/** A key pair for one sandbox: PKCS8 and SPKI DER, base64. */
export function newSandboxKeyPair(): { private_key: string; public_key: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    private_key: privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64'),
    public_key: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
  };
}

export const importPrivateKey = (base64: string): KeyObject =>
  createPrivateKey({ key: Buffer.from(base64, 'base64'), format: 'der', type: 'pkcs8' });

export const importPublicKey = (base64: string): KeyObject =>
  createPublicKey({ key: Buffer.from(base64, 'base64'), format: 'der', type: 'spki' });

/** Base64 SPKI of a base64 PKCS8, so that a launch that is repeated names the same key. */
export const publicKeyOf = (privateKey: string): string =>
  createPublicKey(importPrivateKey(privateKey)).export({ type: 'spki', format: 'der' }).toString('base64');

/** @returns base64 */
export function signCall(call: SignedCall, privateKey: KeyObject): string {
  return sign(null, message(call), privateKey).toString('base64');
}

export function verifyCall(call: SignedCall, signature: string, publicKey: KeyObject): boolean {
  return verify(null, message(call), publicKey, Buffer.from(signature, 'base64'));
}
