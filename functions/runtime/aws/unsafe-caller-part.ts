import * as z from 'zod';
import { FUNCTION_ENVIRONMENT } from '../../../shared/contracts/function-environment.ts';
import { UNSAFE_CALLER } from '../../../shared/contracts/unsafe-caller.ts';
import { functionPart } from './function-part.ts';

const { base } = FUNCTION_ENVIRONMENT;

/** An emulator's API Gateway checks no signature and names no caller. Anything else refuses to start with this set. */
export const unsafeCallerPart = functionPart(
  z
    .object({ ...base.pick({ COGNITION_ENVIRONMENT: true }).shape, ...UNSAFE_CALLER.shape })
    .refine(
      ({ COGNITION_ENVIRONMENT, COGNITION_UNSAFE_CALLER }) =>
        COGNITION_ENVIRONMENT === 'development' || COGNITION_UNSAFE_CALLER === undefined,
      { path: ['COGNITION_UNSAFE_CALLER'], message: 'is for development: leave it out' },
    ),
  ({ COGNITION_UNSAFE_CALLER: principal }, { logger }) => {
    if (principal !== undefined) {
      const message = 'COGNITION_UNSAFE_CALLER is set: calls without an identity are taken for its';
      logger.warn(message, { principal: `${principal.account_id}/${principal.role_id}` });
    }
    return principal;
  },
);
