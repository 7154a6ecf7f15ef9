/**
 * Paths that come with bytes are checked here again, whoever has checked them before: what passes stays below the
 * folder it is joined to, on any file system.
 */
import { LIMITS } from '../../../shared/contracts/limits.ts';
import { DaemonError } from '../daemon-error.ts';

/** Nearly every path there is; the rest is looked at more slowly. */
const PLAIN = /^\w[\w.-]*(?:\/\w[\w.-]*)*$/;

/** @throws DaemonError `bad_request` naming what is wrong with the path. */
export function safePath(path: string): string {
  const problem = pathProblem(path);
  if (problem !== undefined) {
    throw new DaemonError('bad_request', `path ${JSON.stringify(path.slice(0, 128))}: ${problem}`);
  }
  return path;
}

export function pathProblem(path: string): string | undefined {
  if (path.length <= LIMITS.pathSegmentBytes && PLAIN.test(path)) return undefined;
  if (path === '') return 'is empty';
  if (!path.isWellFormed()) return 'is not well-formed Unicode';
  if (Buffer.byteLength(path) > LIMITS.pathBytes) return `has over ${LIMITS.pathBytes} bytes`;
  if (/[\u0000-\u001f\u007f\u0080-\u009f]/.test(path)) return 'has a control character';
  if (path.includes('\\')) return 'has a backslash';
  for (const segment of path.split('/')) {
    if (segment === '') return 'is absolute or has an empty segment';
    if (segment === '.' || segment === '..') return 'has a . or .. segment';
    if (Buffer.byteLength(segment) > LIMITS.pathSegmentBytes) {
      return `has a segment of over ${LIMITS.pathSegmentBytes} bytes`;
    }
  }
  return undefined;
}
