import { defineConfig } from 'vitest/config';

const common = { testTimeout: 60_000, hookTimeout: 60_000, pool: 'forks', maxWorkers: 2 } as const;

export default defineConfig({
  test: {
    ...common,
    projects: [
      { test: { ...common, name: 'rules', include: ['test/{unit,contract,infra}/**/*.test.ts'] } },
      {
        test: {
          ...common,
          name: 'local',
          include: ['test/{local,sandbox}/**/*.test.ts'],
          provide: { sandboxForm: 'bubblewrap' },
        },
      },
      {
        // One suite over HTTP for every place the product runs: COGNITION_TEST_ENDPOINT names the target.
        test: {
          ...common,
          name: 'blackbox',
          include: ['test/blackbox/**/*.test.ts'],
          globalSetup: ['test/support/target.ts'],
        },
      },
    ],
  },
});
