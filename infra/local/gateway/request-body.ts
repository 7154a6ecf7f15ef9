/** Reads a body up to its limit; what is over it is refused early and drained a little, so that the answer arrives. */
import type { IncomingMessage } from 'node:http';
import { ENCODED_BODY_FIX, tooLarge } from '../../../functions/runtime/invalid-request.ts';
import { LIMITS } from '../../../shared/contracts/limits.ts';
import { CognitionError } from '../../../shared/domain/cognition-error.ts';

/** A client that sends more than this after a refusal, or takes longer, is cut off. */
const DRAIN_BYTES = 32 * 1024 * 1024;
const DRAIN_MS = 5_000;

export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

const UNFINISHED_BYTES = 256 * 1024 * 1024;

const overBudget = () =>
  new CognitionError('unavailable', 'too many bodies are on their way; try again', { retryAfterSeconds: 1 });

const overLimit = () => tooLarge('the body', LIMITS.requestBodyBytes, ENCODED_BODY_FIX);

/** @throws CognitionError `body_too_large` by the announced length, before any of the body is read. */
export function checkAnnouncedLength(request: IncomingMessage): void {
  if (Number(request.headers['content-length'] ?? 0) > LIMITS.requestBodyBytes) throw overLimit();
}

export type BodyReader = (request: IncomingMessage) => Promise<Buffer>;

/**
 * @param budget bytes of unfinished bodies together: whoever sends slowly holds them here, before the signature over
 * them can be checked.
 */
export function bodyReader(budget: number = UNFINISHED_BYTES): BodyReader {
  const unfinished = { bytes: 0, budget };
  return (request) => readBody(request, unfinished);
}

/** @throws CognitionError `body_too_large`, `unavailable`; ClientGone when the client left in the middle. */
function readBody(request: IncomingMessage, unfinished: { bytes: number; budget: number }): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      unfinished.bytes += chunk.length;
      if (size > LIMITS.requestBodyBytes) settle(() => reject(overLimit()));
      else if (unfinished.bytes > unfinished.budget) settle(() => reject(overBudget()));
      else chunks.push(chunk);
    };
    const onEnd = (): void =>
      settle(() => resolve(chunks.length === 1 ? (chunks[0] ?? EMPTY) : Buffer.concat(chunks)));
    const onGone = (): void => settle(() => reject(new ClientGone()));
    const settle = (done: () => void): void => {
      unfinished.bytes -= size;
      request.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone);
      request.on('error', () => undefined);
      done();
    };
    request.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone);
  });
}

const EMPTY = Buffer.alloc(0);

/** Discards what still comes, up to a bound. Resolves when the connection may be closed. */
export function drain(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    let left = DRAIN_BYTES;
    const timer = setTimeout(resolve, DRAIN_MS);
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    request.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) done();
    });
    request.on('end', done).on('close', done).on('error', done);
    request.resume();
  });
}
