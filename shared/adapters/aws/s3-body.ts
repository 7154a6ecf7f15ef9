import { addAbortSignal, Readable } from 'node:stream';
import { TransientError } from '../../domain/transient-error.ts';

/** The answer came, but not all of its body: worth another try at once. */
export class BrokenBody extends TransientError {}

/**
 * The whole body of an answer: the SDK watches only over the time until a body begins.
 * @param size what the answer's head promised, in bytes.
 * @throws BrokenBody when the body breaks off, is not of that size, or has not ended when `signal` aborts.
 */
export async function readBody(body: unknown, size: number, signal: AbortSignal): Promise<Uint8Array> {
  if (!(body instanceof Readable)) throw new TypeError('the body of an answer is not a stream of Node');
  const bytes = Buffer.allocUnsafe(size);
  let at = 0;
  try {
    for await (const chunk of addAbortSignal(signal, body)) {
      bytes.set(chunk, at);
      at += chunk.byteLength;
    }
  } catch (cause) {
    throw new BrokenBody(`the body of an object broke off after ${at} of ${size} bytes`, cause);
  }
  if (at < size) throw new BrokenBody(`the body of an object ended after ${at} of ${size} bytes`);
  return bytes;
}
