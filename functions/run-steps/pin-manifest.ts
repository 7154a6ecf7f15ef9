import { stepHandler } from './step-handler.ts';

export const handler = stepHandler('PinManifest', (steps, run) => steps.pinManifest(run));
