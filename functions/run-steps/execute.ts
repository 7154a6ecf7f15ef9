import { stepHandler } from './step-handler.ts';

export const handler = stepHandler('Execute', (steps, run) => steps.execute(run));
