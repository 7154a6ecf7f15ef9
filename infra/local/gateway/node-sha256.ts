import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';

type SourceData = string | ArrayBuffer | ArrayBufferView;

/** Hashing of the signature library by node:crypto: SHA-256, or HMAC with a secret. */
export class NodeSha256 {
  readonly #hash: Hash | Hmac;

  constructor(secret?: SourceData) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret));
  }

  update(data: Uint8Array): void {
    this.#hash.update(data);
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }

  /** Of the library's interface; it makes a new hash for each use. */
  reset(): void {
    throw new Error('not used');
  }
}

function bytesOf(secret: SourceData): string | Uint8Array {
  if (typeof secret === 'string') return secret;
  if (secret instanceof ArrayBuffer) return new Uint8Array(secret);
  return new Uint8Array(secret.buffer, secret.byteOffset, secret.byteLength);
}
