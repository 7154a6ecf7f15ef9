/**
 * `npm run test:emulator`: deploys to an emulator with the real CLI, runs the black-box suite and the emulator's own
 * tests against it, and leaves nothing behind. Arguments go to vitest; `--keep` alone stays, for tests by hand.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUILDER_ENVIRONMENT } from '../../infra/local/emulator/builder-key.ts';
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

function runTests(args: readonly string[], env: Record<string, string>): Promise<number> {
  const vitest = spawn(join(ROOT, 'node_modules/.bin/vitest'), ['run', '--config', CONFIG, ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  });
  return new Promise((resolve) => vitest.once('exit', (code) => resolve(code ?? 1)));
}

async function main(args: readonly string[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'cognition-emulator-'));
  const closings: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of closings.splice(0).reverse()) await end();
    rmSync(folder, { recursive: true, force: true });
  };
  const interrupted = new Promise<number>((resolve) => {
    process.once('SIGINT', () => resolve(130));
    process.once('SIGTERM', () => resolve(143));
  });
  const work = async (): Promise<number> => {
    const facts = await deployForTests(folder, (end) => closings.push(end));
    const file = join(folder, 'facts.json');
    writeFileSync(file, JSON.stringify(facts));
    say(`deployed: ${JSON.stringify(facts.timings)}, it can ${JSON.stringify(facts.capabilities)}`);
    const env = testEnvironment(facts, file);
    if (!args.includes('--keep')) return runTests(args, env);
    for (const [name, value] of Object.entries(env)) say(`export ${name}=${value}`);
    return interrupted;
  };
  try {
    return await Promise.race([work(), interrupted]);
  } finally {
    await close();
  }
}

process.exit(await main(process.argv.slice(2)));
