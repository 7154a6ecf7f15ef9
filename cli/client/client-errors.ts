import type { ErrorCode, PackageProblem, Problem } from '../../shared/contracts/error-codes.ts';

/** An answer of the API that is an error: its problem+json, one to one. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly requestId: string | undefined;
  readonly problems: readonly PackageProblem[];
  readonly errors: readonly { pointer: string; message: string }[];
  readonly retryAfterSeconds: number | undefined;

  constructor(problem: Problem, retryAfterSeconds?: number) {
    super(problem.detail);
    this.code = problem.code;
    this.status = problem.status;
    this.requestId = problem.request_id;
    this.problems = problem.problems ?? [];
    this.errors = problem.errors ?? [];
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export type TransportCode =
  /** Nothing answers, or the connection was lost before the answer was whole. */
  | 'unreachable'
  /** An answer that this version of the API never gives. */
  | 'unexpected_answer'
  /** Bytes whose SHA-256 is not the one that was announced. */
  | 'checksum_mismatch'
  /** A request that the API would refuse, refused before it is sent. */
  | 'refused_request'
  | 'no_credentials';

/** What went wrong between the client and the API. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly code: TransportCode;
  /** True when the same request, sent again, may pass. */
  readonly retryable: boolean;

  constructor(code: TransportCode, message: string, options: { cause?: unknown; retryable?: boolean } = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? false;
  }
}
