import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { Api, type Scope } from './api.ts';

/** A scope that no other test has, so that tests share a server and see nothing of each other. */
export function freshScope(tenant = 't'): Scope {
  return { tenant: `${tenant}-${randomBytes(6).toString('hex')}` };
}

export const freshApi = (): Api => new Api(inject('target'), freshScope());
