import { monotonicFactory } from 'ulid';
import type { Ids } from '../ports/ids.ts';

/** Ascending within a process, also within a millisecond. */
export function createUlidIds(): Ids {
  const ulid = monotonicFactory();
  return { next: () => ulid() };
}
