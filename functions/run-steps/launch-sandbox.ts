import { stepHandler } from './step-handler.ts';

export const handler = stepHandler('LaunchSandbox', (steps, run) => steps.launchSandbox(run));
