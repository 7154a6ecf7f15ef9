/** What an ECS call's failure means to the run boundary: wait and try again, or give up with a clear code. */
import { CognitionError } from '../../domain/cognition-error.ts';
import { TransientError } from '../../domain/transient-error.ts';
import { failureName, isTransientFailure } from './transient-failure.ts';

/** Fargate reports some lack of capacity as a ClientException, told apart by its words only. */
const CAPACITY = /capacity|limit on the number of (tasks|vcpus)/i;

/**
 * @returns the error to throw for a rejected call; `call` is the ECS operation's name. What ECS says of it, which may
 * name accounts and roles, stays in the cause: the message may reach a builder.
 */
export function ecsFailure(call: string, cause: unknown): Error {
  const message = `ECS ${call} failed with ${failureName(cause)}`;
  if (isTransientFailure(cause) || lacksCapacity(cause)) return new TransientError(message, cause);
  return new CognitionError('sandbox_unavailable', message, { cause });
}

function lacksCapacity(cause: unknown): boolean {
  return cause instanceof Error && cause.name === 'ClientException' && CAPACITY.test(cause.message);
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
