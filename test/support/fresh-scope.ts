import { randomBytes } from 'node:crypto';
import type { Scope } from './api.ts';

/** A scope that nothing else has, so that tests share a server and see nothing of each other. */
export function freshScope(tenant = 't'): Scope {
  return { tenant: `${tenant}-${randomBytes(6).toString('hex')}` };
}
