/** Bundles every function of the table for Lambda, all in one call: what they share is parsed once. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { DEPLOYED_FILES } from '../../shared/contracts/function-environment.ts';
import type { SandboxProfile } from '../../shared/contracts/sandbox-profile.ts';
import type { ScopeBinding } from '../../shared/contracts/scope.ts';
import { functionEntry } from './function-entry.ts';
import { FUNCTIONS, type FunctionSpec, functionSpec } from './function-table.ts';
import { leanModules } from './lean-modules.ts';

export interface BundleFunctionsOptions {
  /** Root of the project. */
  readonly root: string;
  /** Gets a folder for each function, which is all that is deployed, and `maps` with their source maps. */
  readonly out: string;
  readonly bindings: readonly ScopeBinding[];
  readonly profiles: readonly SandboxProfile[];
}

/**
 * Makes `<out>/<name>/index.mjs` with the handler `index.handler`, and the files that belong beside it.
 * @returns the folder of each function, by its name.
 */
export async function bundleFunctions(options: BundleFunctionsOptions): Promise<ReadonlyMap<string, string>> {
  const { root, out } = options;
  const { outputFiles } = await buildFunctions(root);
  const folders = new Map(FUNCTIONS.map(({ name }) => [name, join(out, name)]));
  // What an earlier build left must not be deployed with this one.
  for (const folder of [...folders.values(), join(out, MAPS)]) {
    await rm(folder, { recursive: true, force: true });
  }
  for (const { path, contents } of outputFiles) {
    const [name = '', file = ''] = path.slice(join(root, VIRTUAL_OUT).length + 1).split(/[/\\]/);
    const target = file.endsWith('.map') ? join(out, MAPS, `${name}.mjs.map`) : join(out, name, file);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, contents);
  }
  for (const spec of FUNCTIONS) await writeDeployedFiles(options, spec);
  return folders;
}

const MAPS = 'maps';
/** Never written: only names of outputs begin with it, and sources in maps are relative to it. */
const VIRTUAL_OUT = 'dist/functions';

/** Exported for the tests and the bench, which look at what is in a bundle. */
export async function buildFunctions(root: string): Promise<{
  readonly outputFiles: readonly { readonly path: string; readonly contents: Uint8Array }[];
  readonly metafile: Metafile;
}> {
  const result = await build({ ...OPTIONS, absWorkingDir: root, plugins: [entriesOf(root), leanModules] });
  if (result.warnings.length > 0) {
    throw new Error(`the functions were bundled with warnings: ${JSON.stringify(result.warnings)}`);
  }
  return result;
}

const OPTIONS = {
  entryPoints: FUNCTIONS.map(({ name }) => ({ in: `function:${name}`, out: `${name}/index` })),
  outdir: VIRTUAL_OUT,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  // The ES builds: only they can be shaken.
  mainFields: ['module', 'main'],
  alias: { '@aws-sdk/credential-provider-node': './functions/runtime/aws/lambda-credentials.ts' },
  // Some dependencies are CommonJS and ask for modules of Node.
  banner: {
    js: "import { createRequire as __cr } from 'node:module'; const require = __cr(import.meta.url);",
  },
  minify: true,
  legalComments: 'none',
  sourcemap: 'external',
  metafile: true,
  write: false,
  logLevel: 'silent',
} as const satisfies BuildOptions;

const entriesOf = (root: string): Plugin => ({
  name: 'function-entries',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^function:/ }, ({ path }) => ({
      path: path.slice('function:'.length),
      namespace: 'function',
    }));
    onLoad({ filter: /.*/, namespace: 'function' }, ({ path }) => ({
      contents: functionEntry(functionSpec(path)),
      resolveDir: root,
      loader: 'js',
    }));
  },
});

async function writeDeployedFiles(
  { out, bindings, profiles }: BundleFunctionsOptions,
  { name, kind }: FunctionSpec,
): Promise<void> {
  const write = (file: string, value: unknown): Promise<void> =>
    writeFile(join(out, name, file), JSON.stringify(value));
  if (kind === 'api') await write(DEPLOYED_FILES.bindings, bindings);
  if (hasRunBoundary(name, kind)) await write(DEPLOYED_FILES.profiles, profiles);
}

const hasRunBoundary = (name: string, kind: FunctionSpec['kind']): boolean =>
  kind === 'api' ? name === 'runs' : name !== 'gc';
