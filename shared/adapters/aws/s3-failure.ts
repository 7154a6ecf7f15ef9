import { CognitionError } from '../../domain/cognition-error.ts';
import { TransientError } from '../../domain/transient-error.ts';
import { failureName, httpStatus, isTransientFailure } from './transient-failure.ts';

/** The hash that came with the bytes is not theirs. */
const MISMATCHES = new Set(['BadDigest', 'XAmzContentChecksumMismatch', 'XAmzContentSHA256Mismatch']);

/**
 * @returns the error to throw for a rejected call; `call` is S3's name of it. What S3 says, which names buckets, keys
 * and accounts, stays in the cause.
 */
export function s3Failure(call: string, cause: unknown): Error {
  const name = failureName(cause);
  const message = `S3 ${call} failed with ${name}`;
  // Others keep changing the object under our condition.
  const isOvertaken = httpStatus(cause) === 412;
  if (isOvertaken || isTransientFailure(cause)) return new TransientError(message, cause);
  return MISMATCHES.has(name)
    ? new CognitionError('digest_mismatch', 'the bytes for an object do not have the SHA-256 given', {
        cause,
      })
    : new CognitionError('internal_error', message, { cause });
}
