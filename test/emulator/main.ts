/**
 * `npm run test:emulator`: deploys to an emulator with the real CLI, runs the black-box suite and the emulator's own
 * tests against it, and leaves nothing behind. Arguments go to vitest; `--keep` alone stays, for tests by hand.
 */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUILDER_ENVIRONMENT } from '../../infra/local/emulator/builder-key.ts';
import { emulatorSession } from '../../infra/local/emulator/emulator-session.ts';
import { deployForTests } from './support/deploy-for-tests.ts';
import { type DeploymentFacts, FACTS_FILE_VARIABLE } from './support/deployment-facts.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CONFIG = fileURLToPath(new URL('vitest.config.ts', import.meta.url));
const say = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

function testEnvironment(facts: DeploymentFacts, file: string): Record<string, string> {
  return {
    [FACTS_FILE_VARIABLE]: file,
    COGNITION_TEST_ENDPOINT: facts.api,
    AWS_REGION: facts.emulator.region,
    ...BUILDER_ENVIRONMENT,
  };
}

function runTests(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<number> {
  const vitest = spawn(join(ROOT, 'node_modules/.bin/vitest'), ['run', '--config', CONFIG, ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: 'inherit',
    signal,
  });
  return new Promise((resolve, reject) => {
    vitest.once('error', reject);
    vitest.once('exit', (code) => resolve(code ?? 1));
  });
}

process.exitCode = await emulatorSession(async (session) => {
  const args = process.argv.slice(2);
  const facts = await deployForTests(session);
  const file = join(session.folder, 'facts.json');
  writeFileSync(file, JSON.stringify(facts));
  say(`deployed: ${JSON.stringify(facts.timings)}, it can ${JSON.stringify(facts.capabilities)}`);
  const env = testEnvironment(facts, file);
  if (!args.includes('--keep')) return runTests(args, env, session.signal);
  for (const [name, value] of Object.entries(env)) say(`export ${name}=${value}`);
  return session.interrupted;
});
