import * as z from 'zod';
import type { StepInput } from '../../shared/contracts/workflow.ts';
import type { CaughtFailure } from '../../shared/services/runs/end-run.ts';

const causeSchema = z.object({ errorType: z.string(), errorMessage: z.string().default('') });

/**
 * What a step threw, as the machine gives it back: the error's name, and Lambda's JSON as its cause; some emulators
 * keep the name only in the latter.
 */
export function caughtFailure(error: StepInput['error']): CaughtFailure {
  if (error === undefined) return { code: 'internal_error', message: '' };
  let json: unknown;
  try {
    json = JSON.parse(error.Cause);
  } catch {
    json = undefined;
  }
  const cause = causeSchema.safeParse(json);
  if (!cause.success) return { code: error.Error, message: '' };
  const generic = error.Error === 'Runtime.HandlerError';
  return { code: generic ? cause.data.errorType : error.Error, message: cause.data.errorMessage };
}
