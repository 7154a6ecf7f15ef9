import { stepHandler } from './step-handler.ts';

export const handler = stepHandler('AwaitSandbox', (steps, run) => steps.awaitSandbox(run));
