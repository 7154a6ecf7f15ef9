import * as z from 'zod';

/** Something that must be refused, and whether it was. */
export const attemptSchema = z.object({
  attempt: z.string(),
  group: z.string(),
  refused: z.boolean(),
  detail: z.string(),
});
export type Attempt = z.infer<typeof attemptSchema>;
