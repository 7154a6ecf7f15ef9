import * as z from 'zod';
import type { StepInput } from '../../shared/contracts/workflow.ts';
import { stepHandler } from './step-handler.ts';

const causeSchema = z.object({ errorType: z.string(), errorMessage: z.string().default('') });

export const handler = stepHandler('RecordFailure', (steps, run, { error }) =>
  steps.recordFailure(run, caughtFailure(error)),
);

/** Catch gives the error's name, and Lambda's JSON as its cause; some emulators keep the name only in the latter. */
function caughtFailure(error: StepInput['error']): { code: string; message: string } {
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
