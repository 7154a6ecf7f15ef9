import { defineConfig } from 'vitest/config';

/** `npm run test:container`: the sandbox of a deployment, from its Dockerfile, with all that Fargate gives and no more. */
export default defineConfig({
  test: {
    name: 'container',
    root: new URL('../../', import.meta.url).pathname,
    include: ['test/container/**/*.test.ts', 'test/sandbox/**/*.test.ts'],
    globalSetup: ['test/container/global-setup.ts'],
    provide: { sandboxForm: 'container' },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // Containers share a kernel here, which counts the processes of the command's user in all of them together: a fork
    // bomb of one test would be the end of another one. On Fargate a task has a kernel of its own.
    fileParallelism: false,
  },
});
