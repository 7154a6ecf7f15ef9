/** What an ECS call's failure means to the run boundary: wait and try again, or give up with a clear code. */
import { CognitionError } from '../../domain/cognition-error.ts';
import { TransientError } from '../../domain/transient-error.ts';

/** Fargate reports some lack of capacity as a ClientException, told apart by its words only. */
const CAPACITY = /capacity|limit on the number of (tasks|vcpus)/i;
const THROTTLED = new Set([
  'ThrottlingException',
  'Throttling',
  'RequestLimitExceeded',
  'TooManyRequestsException',
]);
const TRANSIENT_NETWORK = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/**
 * @returns the error to throw for a rejected call; `call` is the ECS operation's name. What ECS says of it, which may
 * name accounts and roles, stays in the cause: the message may reach a builder.
 */
export function ecsFailure(call: string, cause: unknown): Error {
  const name = cause instanceof Error ? cause.name : 'unknown';
  const text = cause instanceof Error ? cause.message : String(cause);
  const message = `ECS ${call} failed with ${name}`;
  if (isTransient(cause, name, text)) return new TransientError(message, cause);
  return new CognitionError('sandbox_unavailable', message, { cause });
}

function isTransient(cause: unknown, name: string, text: string): boolean {
  if (THROTTLED.has(name) || name === 'TimeoutError' || name === 'AbortError') return true;
  if (name === 'ClientException' && CAPACITY.test(text)) return true;
  const status = httpStatus(cause);
  if (status !== undefined) return status >= 500 || status === 429;
  return cause instanceof Error && 'code' in cause && TRANSIENT_NETWORK.has(String(cause.code));
}

function httpStatus(cause: unknown): number | undefined {
  if (!(cause instanceof Error) || !('$metadata' in cause)) return undefined;
  const metadata = cause.$metadata;
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return undefined;
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : undefined;
}

/** For `failures` in an answer with status 200. */
export function launchFailure(reason: string, detail: string | undefined): Error {
  const message = `ECS did not start the task: ${reason}`;
  const cause = detail === undefined ? undefined : new Error(detail);
  if (reason.startsWith('RESOURCE:') || CAPACITY.test(`${reason} ${detail ?? ''}`)) {
    return new TransientError(message, cause);
  }
  return new CognitionError('sandbox_unavailable', message, { cause });
}
