/** Of API functions of a deployment to an emulator alone: no other has the code that reads it. */
import * as z from 'zod';
import type { Principal } from './http-event.ts';

/** `<account id>/<role unique id>`. */
const principal = z
  .string()
  .regex(/^[0-9]{12}\/A[A-Z0-9]{15,127}$/, 'is <account id>/<role unique id>')
  .transform((value): Principal => {
    const [account_id = '', role_id = ''] = value.split('/');
    return { account_id, role_id };
  });

export const UNSAFE_CALLER = z.object({ COGNITION_UNSAFE_CALLER: principal.optional() });
