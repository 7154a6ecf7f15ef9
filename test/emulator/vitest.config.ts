import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const common = {
  root: fileURLToPath(new URL('../../', import.meta.url)),
  testTimeout: 120_000,
  hookTimeout: 120_000,
  pool: 'forks',
} as const;

const BESIDE_EACH_OTHER = { maxWorkers: 3, sequence: { groupOrder: 0 } } as const;

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
          ...BESIDE_EACH_OTHER,
        },
      },
      {
        test: {
          ...common,
          name: 'contract',
          include: ['test/emulator/contract/**/*.test.ts'],
          globalSetup: ['test/emulator/support/provide-facts.ts'],
          ...BESIDE_EACH_OTHER,
        },
      },
      {
        // Of a deployment of its own.
        test: {
          ...common,
          name: 'deployment',
          include: ['test/emulator/deployment/**/*.test.ts'],
          globalSetup: ['test/emulator/support/provide-facts.ts'],
          ...BESIDE_EACH_OTHER,
        },
      },
      {
        // One at a time: each says what is to go wrong for everybody.
        test: {
          ...common,
          name: 'emulator',
          include: ['test/emulator/*.test.ts'],
          globalSetup: ['test/emulator/support/provide-facts.ts'],
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
