/**
 * Bundles sandboxd into one file. CommonJS, because it starts faster than a module, and with the stand-in for zod,
 * which costs every task more than all the rest of the daemon.
 */
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** @returns the source of the bundle; the same sources give the same bytes. */
export async function buildSandboxd(): Promise<Buffer> {
  // Loaded here, so that a server whose bundle is staged already need not.
  const { build } = await import('esbuild');
  const result = await build({
    absWorkingDir: root,
    entryPoints: ['functions/sandboxd/main.ts'],
    bundle: true,
    minify: true,
    write: false,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    alias: { zod: './functions/sandboxd/mini-zod.ts' },
    logLevel: 'silent',
  });
  const file = result.outputFiles[0];
  if (file === undefined) throw new Error('esbuild has built no file for sandboxd');
  return Buffer.from(file.contents);
}
