import { readdirSync } from 'node:fs';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { type FunctionForm, functionEntry } from './function-entry.ts';
import { FUNCTIONS, functionSpec } from './function-table.ts';
import { leanModules } from './lean-modules.ts';

export interface BuiltFunctions {
  readonly bundles: readonly FunctionBundle[];
  /** Every file that had a part in it, relative to the root. */
  readonly inputs: readonly string[];
}

export interface FunctionBundle {
  readonly name: string;
  readonly code: Uint8Array;
  /** A source map that the code does not point to. */
  readonly map: Uint8Array;
  /** Bytes of each source in the code, by its path. */
  readonly sources: ReadonlyMap<string, number>;
}

const OUT = 'dist/functions';

const OPTIONS = {
  entryPoints: FUNCTIONS.map(({ name }) => ({ in: `function:${name}`, out: name })),
  outdir: OUT,
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

/** Writes nothing. @throws Error for whatever esbuild warns of. */
export async function buildFunctions(root: string, form: FunctionForm): Promise<BuiltFunctions> {
  const plugins = [entriesOf(root, form), leanModules];
  const result = await build({ ...OPTIONS, absWorkingDir: root, plugins });
  if (result.warnings.length > 0) {
    throw new Error(`the functions were bundled with warnings: ${JSON.stringify(result.warnings)}`);
  }
  const { metafile } = result;
  const contents = new Map(result.outputFiles.map((file) => [basename(file.path), file.contents]));
  const bundles = FUNCTIONS.map(({ name }): FunctionBundle => {
    const code = contents.get(`${name}.mjs`);
    const map = contents.get(`${name}.mjs.map`);
    if (code === undefined || map === undefined) throw new Error(`the function ${name} was not bundled`);
    return { name, code, map, sources: sourcesOf(metafile, name) };
  });
  return { bundles, inputs: [...filesOf(metafile), ...ownFiles(root)] };
}

const basename = (path: string): string =>
  path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);

const sourcesOf = ({ outputs }: Metafile, name: string): ReadonlyMap<string, number> =>
  new Map(
    Object.entries(outputs[`${OUT}/${name}.mjs`]?.inputs ?? {}).map(([path, { bytesInOutput }]) => [
      path,
      bytesInOutput,
    ]),
  );

/** Modules that plugins made up have a namespace before their name. */
const filesOf = ({ inputs }: Metafile): string[] => Object.keys(inputs).filter((path) => !path.includes(':'));

/** What decides on a build without being in it. */
const ownFiles = (root: string): string[] => [
  'package-lock.json',
  ...readdirSync(`${root}/infra/functions`).map((file) => `infra/functions/${file}`),
  'shared/contracts/function-environment.ts',
  'shared/contracts/routes.ts',
];

const entriesOf = (root: string, form: FunctionForm): Plugin => ({
  name: 'function-entries',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^function:/ }, ({ path }) => ({
      path: path.slice('function:'.length),
      namespace: 'function',
    }));
    onLoad({ filter: /.*/, namespace: 'function' }, ({ path }) => ({
      contents: functionEntry(functionSpec(path), form),
      resolveDir: root,
      loader: 'js',
    }));
  },
});
