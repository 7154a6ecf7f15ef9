/** Errors as RFC 9457 answers. What is not an error of the product says nothing but the request id. */
import { ERROR_CODES, type ErrorCode, type Problem } from '../../shared/contracts/error-codes.ts';
import { CognitionError, isCognitionError } from '../../shared/domain/cognition-error.ts';
import { TransientError } from '../../shared/domain/transient-error.ts';
import { ConditionFailed } from '../../shared/ports/table-store.ts';

export interface ProblemAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly problem: Problem;
}

export const PROBLEM_TYPE = 'application/problem+json';

/** As many problems of a package as an answer lists, so that the answer stays below its limit. */
const PROBLEMS_LISTED = 1_000;

export function problemOf(error: unknown, requestId: string): ProblemAnswer {
  const known = toCognitionError(error, requestId);
  const { status, title } = ERROR_CODES[known.code];
  const { problems, errors, retryAfterSeconds } = known.details;
  return {
    status,
    headers: {
      'content-type': PROBLEM_TYPE,
      'cache-control': 'no-store',
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterSeconds)) }),
    },
    problem: {
      type: 'about:blank',
      title,
      status,
      code: known.code,
      detail: known.message,
      request_id: requestId,
      ...(problems === undefined ? {} : { problems: problems.slice(0, PROBLEMS_LISTED) }),
      ...(errors === undefined ? {} : { errors: [...errors] }),
    },
  };
}

function toCognitionError(error: unknown, requestId: string): CognitionError {
  if (isCognitionError(error) && !isInternal(error.code)) return error;
  if (error instanceof TransientError) {
    return new CognitionError('unavailable', 'busy for the moment; try again', { retryAfterSeconds: 1 });
  }
  if (error instanceof ConditionFailed) {
    return new CognitionError('conflict', 'others changed the same thing at the same time; try again');
  }
  return new CognitionError(
    'internal_error',
    `a fault on our side; report it with the request id ${requestId}`,
  );
}

/** Its message is for the log; callers cannot do anything with it. */
const isInternal = (code: ErrorCode): boolean => code === 'internal_error';
