import { stepHandler } from './step-handler.ts';

export const handler = stepHandler('CollectArtifacts', (steps, run) => steps.collectArtifacts(run));
