import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const common = {
  root: fileURLToPath(new URL('../../', import.meta.url)),
  testTimeout: 180_000,
  hookTimeout: 120_000,
  pool: 'forks',
} as const;

/** @param group those of one run at the same time, in the order of their numbers. */
const project = (name: string, group: number, maxWorkers: number) => ({
  test: {
    ...common,
    name,
    include: [`test/emulator/${name}/**/*.test.ts`],
    globalSetup: ['test/emulator/support/provide-facts.ts'],
    maxWorkers,
    sequence: { groupOrder: group },
  },
});

export default defineConfig({
  test: {
    ...common,
    projects: [
      {
        // The suite of the standalone server, unchanged: COGNITION_TEST_ENDPOINT names the deployment.
        test: {
          ...common,
          name: 'blackbox',
          include: ['test/blackbox/**/*.test.ts'],
          globalSetup: ['test/support/target.ts'],
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      project('contract', 0, 3),
      // Of a deployment of its own.
      project('deployment', 0, 3),
      // With other code in the functions.
      project('steps', 1, 1),
      // Each disturbs its own scope only.
      project('faults', 2, 2),
      // What counts every call, or sends them elsewhere.
      project('alone', 3, 1),
      // Looks at what all of these have left.
      project('after', 4, 1),
    ],
  },
});
