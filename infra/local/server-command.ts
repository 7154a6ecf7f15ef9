import { fileURLToPath } from 'node:url';

/**
 * Arguments for Node that start the standalone server. V8's young generation would grow to 64 MB on a burst of runs
 * and stay so, which is most of what the server takes; kept small, it only collects a little more often.
 */
export const SERVER_COMMAND = [
  '--max-semi-space-size=4',
  fileURLToPath(new URL('main.ts', import.meta.url)),
] as const;
