/**
 * Where the black-box suite goes: COGNITION_TEST_ENDPOINT (with the usual AWS variables), else a standalone
 * server that this file starts once for all of its tests.
 */
import type { TestProject } from 'vitest/node';
import type { TestTarget } from './api.ts';
import { removeFolder, startStandalone } from './standalone.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    target: TestTarget;
  }
}

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const env = process.env;
  const endpoint = env.COGNITION_TEST_ENDPOINT;
  if (endpoint !== undefined) {
    project.provide('target', {
      endpoint,
      region: env.AWS_REGION ?? 'us-east-1',
      access_key_id: env.AWS_ACCESS_KEY_ID ?? '',
      secret_access_key: env.AWS_SECRET_ACCESS_KEY ?? '',
      ...(env.AWS_SESSION_TOKEN === undefined ? {} : { session_token: env.AWS_SESSION_TOKEN }),
    });
    return undefined;
  }
  const server = await startStandalone();
  project.provide('target', server.target);
  return async () => {
    await server.stop();
    removeFolder(server.folder);
  };
}
