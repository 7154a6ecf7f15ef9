import { TransientError } from '../../domain/transient-error.ts';
import { storageFull } from './storage-full.ts';

const FULL = new Set(['ENOSPC', 'EDQUOT']);
const BUSY = new Set(['EMFILE', 'ENFILE', 'EAGAIN', 'EBUSY', 'ENOMEM']);
/** The disk is away, broken or closed to us: what an operator repairs while callers try again. */
const UNAVAILABLE = new Set([
  ...['EIO', 'ENXIO', 'ENODEV', 'ESTALE', 'ETIMEDOUT', 'EROFS'],
  ...['EACCES', 'EPERM', 'ENOTDIR', 'ELOOP'],
]);

/** The code of an error of node:fs, such as ENOENT. */
export function systemErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** What an error of node:fs means for callers; any other error is returned as it is. */
export function filesystemFailure(error: unknown, root: string): unknown {
  const code = systemErrorCode(error);
  if (code === undefined) return error;
  if (FULL.has(code)) return storageFull(`no space left in ${root}: free some and try again`, error);
  if (BUSY.has(code)) return new TransientError(`${root} is busy (${code})`, error);
  return UNAVAILABLE.has(code) ? new TransientError(`${root} cannot be used (${code})`, error) : error;
}
