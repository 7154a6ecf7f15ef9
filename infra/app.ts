/**
 * What `npx cdk` runs: the settings of the operator, the bundles of the functions, the stacks. With `-c settings=<file>`
 * the settings are in that file and not in `cognition.env`.
 */
import { rmSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { InvalidSettings } from '../shared/contracts/given-settings.ts';
import { readDeploymentSettings } from './read-deployment-settings.ts';
import { settingsFile } from './settings-file.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const CACHE = join(ROOT, 'node_modules', '.cache', 'cognition-synth');

async function main(): Promise<void> {
  const { settings, warnings } = readDeploymentSettings({
    environment: process.env,
    directory: process.cwd(),
    file: settingsFile(process.env),
  });
  for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`);
  // Half of the time of a synthesis is reading the CDK, and the compiler works meanwhile.
  enableCompileCache(join(CACHE, 'compiled'));
  const { prepareAssets } = await import('./prepare-assets.ts');
  // Of this process alone, since commands may be running side by side; the CDK copies what it needs.
  const out = join(CACHE, `assets-${process.pid}`);
  try {
    const assets = prepareAssets({ root: ROOT, out, settings });
    const [{ createApp }, { createDeployment }] = await Promise.all([
      import('./create-app.ts'),
      import('./deployment.ts'),
    ]);
    const { bundles, imageContext } = await assets;
    const app = createApp(settings);
    createDeployment(app, settings, bundles, imageContext);
    app.synth();
  } finally {
    rmSync(out, { recursive: true, force: true });
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
