/**
 * What `npx cdk` runs: the settings of the operator, the bundles of the functions, the stacks. With `-c settings=<file>`
 * the settings are in that file and not in `cognition.env`.
 */
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { InvalidSettings } from '../shared/contracts/given-settings.ts';
import { readDeploymentSettings } from './read-deployment-settings.ts';
import { settingsFile } from './settings-file.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const CACHE = join(ROOT, 'node_modules', '.cache', 'cognition-synth');
const LAST = join(ROOT, 'dist', 'functions');

async function main(): Promise<void> {
  const { settings, warnings } = readDeploymentSettings({
    environment: process.env,
    directory: process.cwd(),
    file: settingsFile(process.env),
  });
  for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`);
  // Every form of the templates is validated in CI; here it would be most of the time. CDK_VALIDATION=true asks for it.
  process.env.CDK_VALIDATION ??= 'false';
  // Half of the rest is reading the CDK, and the compiler works meanwhile.
  enableCompileCache(join(CACHE, 'compiled'));
  const { prepareAssets } = await import('./prepare-assets.ts');
  // Of this process alone, since commands may be running side by side; the CDK copies what it deploys.
  const out = join(CACHE, `assets-${process.pid}`);
  try {
    const assets = prepareAssets({ root: ROOT, out, last: LAST, settings });
    const [{ createApp }, { createDeployment }] = await Promise.all([
      import('./create-app.ts'),
      import('./deployment.ts'),
    ]);
    const { bundles, imageContext } = await assets;
    const app = createApp(settings);
    createDeployment(app, settings, bundles, imageContext);
    app.synth();
    keepLast(join(out, 'functions'), LAST);
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

/** For the next time, and for whoever reads a stack trace: source maps are not deployed. */
function keepLast(made: string, kept: string): void {
  try {
    rmSync(kept, { recursive: true, force: true });
    mkdirSync(dirname(kept), { recursive: true });
    renameSync(made, kept);
  } catch {
    // Another command has just kept its own.
  }
}

try {
  await main();
} catch (error) {
  const text =
    error instanceof InvalidSettings ? error.message : error instanceof Error ? error.stack : error;
  process.stderr.write(`cognition: ${text}\n`);
  process.exitCode = 1;
}
