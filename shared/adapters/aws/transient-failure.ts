/** Which failures of AWS calls may pass by themselves. The SDK has tried again by the time they come here. */

/** By the name of the error; several services name the same thing each in its own way. */
const PASSING = new Set([
  ...['Throttling', 'ThrottlingException', 'ThrottledException', 'TooManyRequestsException'],
  ...['RequestLimitExceeded', 'ProvisionedThroughputExceededException', 'SlowDown', 'ExecutionLimitExceeded'],
  ...['TransactionConflictException', 'TransactionInProgressException'],
  ...['ConditionalRequestConflict', 'OperationAborted'],
  ...['RequestTimeout', 'RequestTimeoutException', 'TimeoutError', 'AbortError'],
]);
const NETWORK = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT'],
  ...['EAI_AGAIN', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH', 'ERR_STREAM_PREMATURE_CLOSE'],
]);

export function isTransientFailure(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false;
  if (PASSING.has(cause.name) || ('code' in cause && NETWORK.has(String(cause.code)))) return true;
  // An answer that was cut, or that something on the way has put in its place.
  if (cause instanceof SyntaxError) return true;
  const status = httpStatus(cause);
  return status !== undefined && (status >= 500 || status === 429);
}

/** Of the answer, undefined when there was none. */
export function httpStatus(cause: unknown): number | undefined {
  if (!(cause instanceof Error) || !('$metadata' in cause)) return undefined;
  const metadata = cause.$metadata;
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return undefined;
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : undefined;
}

export function failureName(cause: unknown): string {
  return cause instanceof Error ? cause.name : 'unknown';
}
