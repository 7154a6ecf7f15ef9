/** Run events: numbered from 1 without gaps, never rewritten. */
import * as z from 'zod';
import { timeSchema } from './names.ts';
import { stageSchema } from './run.ts';

export const EVENT_TYPES = [
  'run.queued',
  'run.pinned',
  'run.cancel_requested',
  'run.succeeded',
  'run.failed',
  'run.timed_out',
  'run.cancelled',
  'sandbox.requested',
  'sandbox.ready',
  'sandbox.sealed',
  'sandbox.stopped',
  'sandbox.teardown_failed',
  'package.materialized',
  'command.started',
  'command.output',
  'command.exited',
  'artifact.collected',
  'artifact.refused',
  'egress.denied',
] as const;

export const eventTypeSchema = z.enum(EVENT_TYPES);
export const eventSchema = z.object({
  sequence: z.int().positive(),
  type: eventTypeSchema,
  at: timeSchema,
  stage: stageSchema,
  data: z.record(z.string(), z.json()),
});
export type RunEvent = z.infer<typeof eventSchema>;
/** Sequence and time are given by the store that appends it. */
export type NewEvent = Pick<RunEvent, 'type' | 'stage' | 'data'>;
