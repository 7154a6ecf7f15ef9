/**
 * Bundles sandboxd into one script, with the stand-in for zod, which would cost every task more than all the rest of
 * the daemon.
 */
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** @returns the source of the bundle; the same sources give the same bytes. */
export async function buildSandboxd(): Promise<Buffer> {
  // Loaded here, so that a server whose bundle is staged already need not.
  const { build, stop } = await import('esbuild');
  const result = await build({
    absWorkingDir: root,
    entryPoints: ['functions/sandboxd/main.ts'],
    bundle: true,
    minify: true,
    write: false,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    alias: { zod: './functions/sandboxd/mini-zod.ts' },
    logLevel: 'silent',
  });
  // Its process would stay for as long as this one.
  await stop();
  const file = result.outputFiles[0];
  if (file === undefined) throw new Error('esbuild has built no file for sandboxd');
  return Buffer.from(requireBuiltins(file.text));
}

/**
 * A module starts slower than a script, and esbuild's own scripts copy every builtin's exports at each import. So the
 * imports of the bundle, all of builtins and all by name, become plain destructuring.
 */
function requireBuiltins(bundle: string): string {
  const script = bundle.replaceAll(
    /import ?\{([\w$, ]+)\} ?from ?"(node:[\w/]+)";/g,
    (_, names: string, from: string) => `const{${names.replaceAll(/ as /g, ':')}}=require("${from}");`,
  );
  if (/\bimport\s*[{*"'(\w]/.test(script)) {
    throw new Error('sandboxd imports something else than builtins by name');
  }
  return `"use strict";${script}`;
}
