import { stepHandler } from './step-handler.ts';

export const handler = stepHandler('Materialize', (steps, run) => steps.materialize(run));
