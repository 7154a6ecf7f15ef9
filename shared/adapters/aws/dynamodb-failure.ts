import { CognitionError } from '../../domain/cognition-error.ts';
import { TransientError } from '../../domain/transient-error.ts';
import { failureName, isTransientFailure } from './transient-failure.ts';

/** Told apart from other refusals by its words only. */
const TOO_LARGE = /exceeded the maximum allowed size|aggregate size/i;

/**
 * @returns the error to throw for a rejected call; `call` is DynamoDB's name of it. What DynamoDB says, which may name
 * accounts, roles and keys of rows, stays in the cause.
 */
export function dynamoFailure(call: string, cause: unknown): Error {
  const message = `DynamoDB ${call} failed with ${failureName(cause)}`;
  if (isTransientFailure(cause)) return new TransientError(message, cause);
  const tooLarge = cause instanceof Error && TOO_LARGE.test(cause.message);
  return tooLarge
    ? new CognitionError('body_too_large', 'a record is larger than the table takes: shorten its texts', {
        cause,
      })
    : new CognitionError('internal_error', message, { cause });
}
