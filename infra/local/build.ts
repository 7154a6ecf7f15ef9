/** Bundles what has to start fast: the CLI. sandboxd is bundled by the task runtime, by content. */
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../../', import.meta.url));

const { metafile } = await build({
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
  metafile: true,
  banner: {
    js: "import { createRequire as __cr } from 'node:module'; const require = __cr(import.meta.url);",
  },
});

// `cognition doctor --deployed` publishes it as it is.
const CONFORMANCE = join(root, 'dist', 'conformance');
rmSync(CONFORMANCE, { recursive: true, force: true });
cpSync(join(root, 'cli', 'doctor', 'conformance'), CONFORMANCE, { recursive: true });

// Names hold hashes, so files of former builds would pile up. Folders are other builds'.
for (const entry of readdirSync(join(root, 'dist'), { withFileTypes: true })) {
  if (!entry.isFile() || Object.hasOwn(metafile.outputs, `dist/${entry.name}`)) continue;
  rmSync(join(root, 'dist', entry.name));
}
