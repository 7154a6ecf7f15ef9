/** What travels through Step Functions: ids, and a word for the choices. Never a value of a caller. */
import * as z from 'zod';
import { fingerprintSchema, idSchema } from './names.ts';

export const runRefSchema = z.object({ fingerprint: fingerprintSchema, run_id: idSchema });
export type RunRef = z.infer<typeof runRefSchema>;

/** Set by Catch: the error's name is a stable code, its cause Lambda's JSON `{errorType, errorMessage}`. */
export const stepErrorSchema = z.object({ Error: z.string(), Cause: z.string().default('') });

export const stepInputSchema = runRefSchema.extend({
  progress: z.unknown().optional(),
  error: stepErrorSchema.optional(),
});
export type StepInput = z.infer<typeof stepInputSchema>;

/** AwaitSandbox and Execute: `pending` loops, `done` goes on. */
export const stepProgressSchema = z.object({ status: z.enum(['pending', 'done']) });
export type StepProgress = z.infer<typeof stepProgressSchema>;

/** Thrown by steps for what may pass by itself; the machine retries it with backoff and jitter. */
export const TRANSIENT_ERROR = 'cognition_transient';
