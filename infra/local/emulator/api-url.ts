import type { Outputs } from './deploy.ts';

/** The URL that a stack says is AWS's; an emulator serves the same stage under a path of its own. */
export function apiUrl(endpoint: string, outputs: Outputs): string {
  const values = Object.values(outputs).flatMap((stack) => Object.values(stack));
  for (const value of values) {
    const [, id, stage] = /^https:\/\/([a-z0-9]+)\.execute-api\.[^/]+\/([^/]+)/.exec(value) ?? [];
    if (id !== undefined) return `${endpoint}/restapis/${id}/${stage}/_user_request_`;
  }
  throw new Error(`no output of the deployment is the URL of the API: ${values.join(', ')}`);
}
