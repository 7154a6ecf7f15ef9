/** For vitest: hands the facts of the deployment, and where the AWS adapters find an emulator, to tests. */
import { readFileSync } from 'node:fs';
import type { TestProject } from 'vitest/node';
import { type DeploymentFacts, deploymentFactsSchema, FACTS_FILE_VARIABLE } from './deployment-facts.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    emulator: DeploymentFacts['emulator'];
    deployment: DeploymentFacts;
  }
}

export function setup(project: TestProject): void {
  const file = process.env[FACTS_FILE_VARIABLE];
  if (file === undefined) throw new Error('run these tests with `npm run test:emulator`');
  const facts = deploymentFactsSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  project.provide('emulator', facts.emulator);
  project.provide('deployment', facts);
}
