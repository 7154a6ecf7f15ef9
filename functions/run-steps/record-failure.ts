import { caughtFailure } from '../runtime/caught-failure.ts';
import { stepHandler } from './step-handler.ts';

export const handler = stepHandler('RecordFailure', (steps, run, { error }) =>
  steps.recordFailure(run, caughtFailure(error)),
);
