import { stepHandler } from './step-handler.ts';

export const handler = stepHandler('Finish', (steps, run) => steps.finish(run));
