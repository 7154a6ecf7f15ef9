import { CognitionError } from '../../domain/cognition-error.ts';
import { TransientError } from '../../domain/transient-error.ts';
import { storageFull } from './storage-full.ts';

const BUSY = 5;
const LOCKED = 6;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const NOT_A_DATABASE = 26;

/** What an error of node:sqlite means for callers; any other error is returned as it is. */
export function sqliteFailure(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return error;
  const cause = error;
  // The low byte is the kind, the rest is detail.
  switch (error.errcode & 0xff) {
    case FULL:
      return storageFull(`no space left for ${path}: free some, or raise its limit`, cause);
    case BUSY:
    case LOCKED:
      return new TransientError(`${path} is in use by another process`, cause);
    case CORRUPT:
    case NOT_A_DATABASE:
      return new CognitionError(
        'internal_error',
        `${path} is damaged or not a table of this product: restore it from a backup, or move it away to start empty`,
        { cause },
      );
    case IO_ERROR:
      return new CognitionError('internal_error', `${path} cannot be read or written: check its disk`, {
        cause,
      });
    default:
      return new CognitionError('internal_error', `the table in ${path} failed: ${error.message}`, { cause });
  }
}
