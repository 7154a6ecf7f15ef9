import { stepHandler } from './step-handler.ts';

export const handler = stepHandler('Teardown', (steps, run) => steps.teardown(run));
