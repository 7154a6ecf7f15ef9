/** The one error of the product: a stable code, and a message that says what, where and the fix. */
import type { ErrorCode, PackageProblem } from '../contracts/error-codes.ts';

export interface ErrorDetails {
  cause?: unknown;
  /** Of a package, all of them. */
  problems?: readonly PackageProblem[];
  /** Of a request, as JSON pointers. */
  errors?: readonly { pointer: string; message: string }[];
  retryAfterSeconds?: number;
}

export class CognitionError extends Error {
  override readonly name = 'CognitionError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.details = details;
  }
}

/** True for an error of this product, narrowed to one code when given. */
export function isCognitionError(error: unknown, code?: ErrorCode): error is CognitionError {
  return error instanceof CognitionError && (code === undefined || error.code === code);
}
