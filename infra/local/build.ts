/** Bundles what has to start fast: the CLI. sandboxd is bundled by the task runtime, by content. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../../', import.meta.url));

await build({
  absWorkingDir: root,
  entryPoints: { cli: 'cli/main.ts' },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  platform: 'node',
  // The ES builds: smaller, and a dynamic import of one has its named exports.
  mainFields: ['module', 'main'],
  target: 'node24',
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  minifySyntax: true,
  logLevel: 'warning',
  banner: {
    js: "import { createRequire as __cr } from 'node:module'; const require = __cr(import.meta.url);",
  },
});
