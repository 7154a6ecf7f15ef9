/** What EventBridge says of an execution of the run machine that ended other than well. */
import * as z from 'zod';
import { idSchema } from './names.ts';
import { type RunRef, runRefSchema } from './workflow.ts';

export const EXECUTION_EVENT_SOURCE = 'aws.states';
export const EXECUTION_EVENT_TYPE = 'Step Functions Execution Status Change';
/** Without its last state: stopped from outside, at its deadline, or by a fault of the machine. The rule's, too. */
export const ENDED_STATUSES = ['ABORTED', 'TIMED_OUT', 'FAILED'] as const;

/** Left out of the event where the machine's data has a key of the customer's. */
const input = z
  .string()
  .nullish()
  .transform((text): RunRef | undefined => {
    try {
      const parsed = runRefSchema.safeParse(JSON.parse(text ?? ''));
      return parsed.success ? parsed.data : undefined;
    } catch {
      return undefined;
    }
  });

export const executionEndedSchema = z.object({
  source: z.literal(EXECUTION_EVENT_SOURCE),
  'detail-type': z.literal(EXECUTION_EVENT_TYPE),
  detail: z.object({
    /** Of the execution: the id of its run. */
    name: idSchema,
    status: z.enum(ENDED_STATUSES),
    input,
    error: z.string().nullish(),
    cause: z.string().nullish(),
  }),
});
export type ExecutionEnded = z.infer<typeof executionEndedSchema>;
