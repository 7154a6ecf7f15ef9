#!/usr/bin/env node
/**
 * Starts the bundle where it is newer than the source it was made from, else the source itself, which needs a
 * Node that strips types; with an older one it hands over to the Node that came with the dependencies.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';

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
    // As a shell says that SIGPIPE ended a command.
    process.exit(process.exitCode ?? 141);
  });
};

async function start() {
  exitQuietlyOnBrokenPipe(process.stdout);
  exitQuietlyOnBrokenPipe(process.stderr);
  const { main, processIo } = await import(bundleIsCurrent() ? bundle.href : source.href);
  process.exitCode = await main(processIo());
}

function refuseNode() {
  process.stderr.write(
    `cognition: Node ${NODE_MAJOR_NEEDED} is needed, this is ${process.version}; run \`npm ci\` in the project\n`,
  );
  process.exitCode = 1;
}

async function handOver() {
  const [{ spawn }, { createRequire }, { dirname, join }, { fileURLToPath }] = await Promise.all([
    import('node:child_process'),
    import('node:module'),
    import('node:path'),
    import('node:url'),
  ]);
  let node;
  try {
    node = join(dirname(createRequire(import.meta.url).resolve('node/package.json')), 'bin', 'node');
  } catch {
    return refuseNode();
  }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  // Ctrl-C reaches both; the child decides how it ends.
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.on(signal, () => signal === 'SIGTERM' && child.kill(signal));
  child.on('error', refuseNode);
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1);
  });
}

/** Asked for by scripts and shells more than anything else, so it waits for nothing. */
const printVersion = () => {
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
  process.stdout.write(`${version}\n`);
};

const isVersionCall = process.argv.length === 3 && ['--version', '-v'].includes(process.argv[2]);
if (isVersionCall) printVersion();
else if (Number(process.versions.node.split('.')[0]) >= NODE_MAJOR_NEEDED) await start();
else await handOver();
