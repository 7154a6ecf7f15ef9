/** The bytes of the body: base64 undone, gzip inflated with a hard cap, both sizes checked. */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { HttpEvent } from '../../shared/contracts/http-event.ts';
import { LIMITS } from '../../shared/contracts/limits.ts';
import type { ApiMiddleware } from './api-call.ts';
import { ENCODED_BODY_FIX, invalidRequest, singleHeader, tooLarge } from './invalid-request.ts';

const inflate = promisify(gunzip);

export const inflatedBody: ApiMiddleware = {
  before: async ({ context }) => {
    const call = context.api;
    if (call?.caller === undefined) throw new Error('no body is read before the caller is known');
    context.api = { ...call, body: await readBody(call.http) };
  },
};

async function readBody(http: HttpEvent): Promise<Uint8Array> {
  const bytes = encodedBody(http);
  const encoding = singleHeader(http.multiValueHeaders, 'content-encoding')?.trim().toLowerCase();
  if (encoding === undefined || encoding === '') return bytes;
  if (encoding !== 'gzip') throw invalidRequest('Content-Encoding may be gzip, or left out');
  try {
    return await inflate(bytes, { maxOutputLength: LIMITS.decodedBodyBytes });
  } catch (cause) {
    if (cause instanceof RangeError) {
      throw tooLarge('the inflated body', LIMITS.decodedBodyBytes, 'split the package or leave files out');
    }
    throw invalidRequest('the body is not gzip, as its Content-Encoding says');
  }
}

function encodedBody(http: HttpEvent): Uint8Array {
  const text = http.body ?? '';
  const size = Buffer.byteLength(text, http.isBase64Encoded ? 'base64' : 'utf8');
  if (size > LIMITS.requestBodyBytes) throw tooLarge('the body', LIMITS.requestBodyBytes, ENCODED_BODY_FIX);
  return Buffer.from(text, http.isBase64Encoded ? 'base64' : 'utf8');
}
