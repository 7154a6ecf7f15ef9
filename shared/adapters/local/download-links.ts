/** Links that anyone may GET until they expire: what a presigned S3 URL is, for the standalone server. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import { LIMITS } from '../../contracts/limits.ts';
import type { Clock } from '../../ports/clock.ts';

export interface DownloadLinksOptions {
  /** At least 32 random bytes, which never leave the server. */
  readonly secret: Uint8Array;
  /** Without a slash at its end; read at each signing, so it may be a getter. */
  readonly base_url: string;
  readonly clock: Clock;
}

export interface Download {
  readonly key: string;
  readonly content_type: string;
  readonly file_name: string;
}

export interface DownloadLinks {
  sign(key: string, options: { seconds: number; content_type: string; file_name: string }): string;
  /** What a request's path and query ask for; undefined unless this server signed it and it has not expired. */
  open(pathAndQuery: string): Download | undefined;
}

const SECRET_BYTES = 32;
const PATH = /^\/downloads\/([A-Za-z0-9_-]{1,8192})\.([A-Za-z0-9_-]{43})$/;

const claimSchema = z.strictObject({
  key: z.string(),
  content_type: z.string(),
  file_name: z.string(),
  /** Milliseconds since the epoch. */
  expires: z.int(),
});

export function createDownloadLinks(options: DownloadLinksOptions): DownloadLinks {
  const { secret, clock } = options;
  if (secret.byteLength < SECRET_BYTES) throw new RangeError(`a secret has at least ${SECRET_BYTES} bytes`);
  const mac = (claim: string): Buffer =>
    createHmac('sha256', secret).update(`download:v1\n${claim}`).digest();
  return {
    sign: (key, { seconds, content_type, file_name }) => {
      if (!(seconds > 0 && seconds <= LIMITS.downloadUrlSeconds)) {
        throw new RangeError(
          `a download URL lives up to ${LIMITS.downloadUrlSeconds} seconds, not ${seconds}`,
        );
      }
      const expires = clock.now() + Math.ceil(seconds * 1_000);
      const claim = Buffer.from(JSON.stringify({ key, content_type, file_name, expires })).toString(
        'base64url',
      );
      return `${options.base_url}/downloads/${claim}.${mac(claim).toString('base64url')}`;
    },
    open: (pathAndQuery) => {
      const [, claim, signature] = PATH.exec(pathAndQuery) ?? [];
      if (claim === undefined || signature === undefined) return undefined;
      // The last of 43 characters carries two bits that decoding ignores: only the form that sign writes counts.
      const expected = Buffer.from(mac(claim).toString('base64url'));
      if (!timingSafeEqual(expected, Buffer.from(signature))) return undefined;
      const { expires, ...download } = claimSchema.parse(
        JSON.parse(Buffer.from(claim, 'base64url').toString('utf8')),
      );
      return clock.now() < expires ? download : undefined;
    },
  };
}
