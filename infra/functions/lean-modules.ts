import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';

/**
 * Two modules that come with more than a function uses.
 *
 * - The schemas of an SDK client are plain data, but keys that are constants in brackets keep the bundler from seeing
 *   that the schemas of calls nobody makes have no effect: two thirds of them for S3.
 * - An import of `node:http` reads all of its exports, and one of them loads the whole of undici: 15 ms of a start.
 *   Taken as the builtin module it is, it is loaded without.
 */
export const leanModules: Plugin = {
  name: 'lean-modules',
  setup({ onLoad, onResolve }) {
    onLoad(
      { filter: /[\\/]client-[a-z0-9-]+[\\/]dist-es[\\/]schemas[\\/]schemas_\d+\.js$/ },
      async ({ path }) => ({
        contents: withPlainKeys(await readFile(path, 'utf8')),
        loader: 'js',
      }),
    );
    onResolve({ filter: /^(node:)?http$/ }, () => ({ path: 'http', namespace: 'builtin' }));
    onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('node:${path}');`,
      loader: 'js',
    }));
  },
};

/** `{ [_xN]: _Ta }` becomes `{ "xmlName": _Ta }` where `const _xN = "xmlName";` stands in the same file. */
function withPlainKeys(source: string): string {
  const constants = new Map(
    [...source.matchAll(/^const (_\w+) = ("[^"\\]*");$/gm)].map(([, name = '', text = '']) => [name, text]),
  );
  return source.replaceAll(/(?<=[{,]\s*)\[(_\w+)\](?=:)/g, (key, name: string) => constants.get(name) ?? key);
}
