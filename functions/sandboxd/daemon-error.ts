import { DAEMON_ERROR_CODES } from '../../shared/contracts/daemon.ts';

export type DaemonErrorCode = keyof typeof DAEMON_ERROR_CODES;

/** A refusal of the protocol: its code decides the status. */
export class DaemonError extends Error {
  override readonly name = 'DaemonError';
  readonly code: DaemonErrorCode;

  constructor(code: DaemonErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  get status(): number {
    return DAEMON_ERROR_CODES[this.code];
  }
}

/** The errno name of a failed system call, else undefined. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** A full disk is the only failure of a write that callers can tell apart. */
export function storageError(error: unknown, what: string): unknown {
  const errno = errnoOf(error);
  if (errno !== 'ENOSPC' && errno !== 'EDQUOT') return error;
  return new DaemonError('storage_full', `${what} does not fit: the sandbox profile gives too little space`, {
    cause: error,
  });
}
