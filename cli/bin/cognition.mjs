#!/usr/bin/env node
/**
 * Starts the bundle where it is newer than the source it was made from, else the source itself, which needs a
 * Node that strips types; with an older one it hands over to the Node that came with the dependencies.
 */
import { spawn } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url);
const bundle = new URL('dist/cli.mjs', root);
const source = new URL('cli/main.ts', root);
const NODE_MAJOR_NEEDED = 24;

const modified = (url) => statSync(url, { throwIfNoEntry: false })?.mtimeMs;

const newestBelow = (folder) => {
  const url = new URL(`${folder}/`, root);
  let newest = 0;
  for (const entry of readdirSync(url, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    newest = Math.max(newest, statSync(`${entry.parentPath}/${entry.name}`).mtimeMs);
  }
  return newest;
};

/** Without sources beside it there is nothing that the bundle could be older than. */
const bundleIsCurrent = () => {
  const built = modified(bundle);
  if (built === undefined) return false;
  if (modified(source) === undefined) return true;
  return ['cli', 'shared/contracts', 'shared/domain'].every((folder) => newestBelow(folder) <= built);
};

const exitQuietlyOnBrokenPipe = (stream) => {
  stream.on('error', (error) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(process.exitCode ?? 0);
  });
};

async function start() {
  exitQuietlyOnBrokenPipe(process.stdout);
  exitQuietlyOnBrokenPipe(process.stderr);
  const { main, processIo } = await import(bundleIsCurrent() ? bundle.href : source.href);
  process.exitCode = await main(processIo());
}

function handOver() {
  const node = fileURLToPath(
    new URL('bin/node', `file://${createRequire(import.meta.url).resolve('node/package.json')}`),
  );
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  // Ctrl-C reaches both; the child decides how it ends.
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.on(signal, () => signal === 'SIGTERM' && child.kill(signal));
  child.on('error', () => {
    process.stderr.write(
      `cognition: Node ${NODE_MAJOR_NEEDED} is needed, this is ${process.version}: run \`npm ci\` in the project\n`,
    );
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1);
  });
}

if (Number(process.versions.node.split('.')[0]) >= NODE_MAJOR_NEEDED) await start();
else handOver();
