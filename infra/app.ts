/**
 * What `npx cdk` runs: the settings of the operator, the bundles of the functions, the stacks. With `-c settings=<file>`
 * the settings are in that file and not in `cognition.env`.
 */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { InvalidSettings } from '../shared/contracts/given-settings.ts';
import { readDeploymentSettings } from './read-deployment-settings.ts';
import { settingsFile } from './settings-file.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

async function main(): Promise<void> {
  const { settings, warnings } = readDeploymentSettings({
    environment: process.env,
    directory: process.cwd(),
    file: settingsFile(process.env),
  });
  for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`);
  // Half of the time of a synthesis is reading the CDK, and the compiler works meanwhile.
  enableCompileCache(join(ROOT, 'node_modules', '.cache', 'cognition-synth'));
  const { prepareAssets } = await import('./prepare-assets.ts');
  const assets = prepareAssets(ROOT, settings);
  const [{ createApp }, { createDeployment }] = await Promise.all([
    import('./create-app.ts'),
    import('./deployment.ts'),
  ]);
  const { bundles, imageContext } = await assets;
  const app = createApp(settings);
  createDeployment(app, settings, bundles, imageContext);
  app.synth();
}

try {
  await main();
} catch (error) {
  const text =
    error instanceof InvalidSettings ? error.message : error instanceof Error ? error.stack : error;
  process.stderr.write(`cognition: ${text}\n`);
  process.exitCode = 1;
}
