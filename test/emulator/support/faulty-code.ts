/** The code of a function as it is deployed, and the same behind a handler that fails when a test says so. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Folders by function. */
type Bundles = Readonly<Record<string, string>>;
type Files = Readonly<Record<string, string | Uint8Array>>;

const FILES: readonly string[] = ['index.mjs', 'scope-bindings.json', 'sandbox-profiles.json'];

/** Everything of the function's folder, as `cdk deploy` has uploaded it. */
export function bundleOf(name: string, bundles: Bundles): Files {
  return Object.fromEntries(
    FILES.flatMap((file) => {
      const path = join(bundles[name] ?? '', file);
      try {
        return [[file, readFileSync(path)]];
      } catch {
        return [];
      }
    }),
  );
}

/**
 * The proxy is asked at every call what is to go wrong. A process that exits is what a killed or crashed environment
 * looks like; a transient error is one that the machine takes for such.
 */
export function faultyCode(name: string, bundles: Bundles, proxy: string): Files {
  const { 'index.mjs': product = '', ...others } = bundleOf(name, bundles);
  const handler = `import { handler as product } from './product.mjs';
const act = (action, when) => {
  if (action === 'exit_' + when) process.exit(1);
  const error = new Error('thrown by the test ' + when + ' the work');
  if (action === 'transient_' + when) error.name = 'cognition_transient';
  if (action === 'transient_' + when || action === 'throw_' + when) throw error;
};
export const handler = async (event, context) => {
  const asked = await fetch('${proxy}/invocations/${name}', {
    method: 'POST',
    body: JSON.stringify({ fingerprint: event?.fingerprint }),
  });
  const { action } = await asked.json();
  act(action, 'before');
  const result = await product(event, context);
  act(action, 'after');
  return result;
};
`;
  return { ...others, 'product.mjs': product, 'index.mjs': handler };
}
