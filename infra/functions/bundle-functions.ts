/** Bundles every function of the table for Lambda, all in one call: what they share is parsed once. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DEPLOYED_FILES } from '../../shared/contracts/function-environment.ts';
import type { SandboxProfile } from '../../shared/contracts/sandbox-profile.ts';
import type { ScopeBinding } from '../../shared/contracts/scope.ts';
import { buildFunctions } from './build-functions.ts';
import { isBuilt, recordBuild } from './build-record.ts';
import type { FunctionForm } from './function-entry.ts';
import { FUNCTIONS, type FunctionSpec } from './function-table.ts';

export interface BundleFunctionsOptions extends FunctionForm {
  /** Root of the project. */
  readonly root: string;
  /** Gets a folder for each function, which is all of it that is deployed, and `maps` with their source maps. */
  readonly out: string;
  readonly bindings: readonly ScopeBinding[];
  readonly profiles: readonly SandboxProfile[];
}

const MAPS = 'maps';

/**
 * Makes `<out>/<name>/index.mjs` with the handler `index.handler`, and the files that belong beside it. Nothing is
 * built again while nothing has changed.
 * @returns the folder of each function, by its name.
 */
export async function bundleFunctions(options: BundleFunctionsOptions): Promise<ReadonlyMap<string, string>> {
  const { root, out } = options;
  const form: FunctionForm = { unsafe_caller: options.unsafe_caller };
  const folders = new Map(FUNCTIONS.map(({ name }) => [name, join(out, name)]));
  if (!isBuilt(root, out, form)) await build(root, out, form);
  for (const spec of FUNCTIONS) writeDeployedFiles(options, spec);
  return folders;
}

async function build(root: string, out: string, form: FunctionForm): Promise<void> {
  const { bundles, inputs } = await buildFunctions(root, form);
  // What an earlier build left must not be deployed with this one.
  for (const folder of [...FUNCTIONS.map(({ name }) => name), MAPS]) {
    rmSync(join(out, folder), { recursive: true, force: true });
  }
  const outputs: string[] = [];
  const write = (path: string, contents: Uint8Array): void => {
    mkdirSync(join(out, dirname(path)), { recursive: true });
    writeFileSync(join(out, path), contents);
    outputs.push(path);
  };
  for (const { name, code, map } of bundles) {
    write(join(name, 'index.mjs'), code);
    write(join(MAPS, `${name}.mjs.map`), map);
  }
  recordBuild(root, out, { form, inputs, outputs });
}

function writeDeployedFiles(
  { out, bindings, profiles }: BundleFunctionsOptions,
  { name, kind }: FunctionSpec,
): void {
  const write = (file: string, value: unknown): void =>
    writeFileSync(join(out, name, file), JSON.stringify(value));
  if (kind === 'api') write(DEPLOYED_FILES.bindings, bindings);
  if (hasRunBoundary(name, kind)) write(DEPLOYED_FILES.profiles, profiles);
}

const hasRunBoundary = (name: string, kind: FunctionSpec['kind']): boolean =>
  kind === 'api' ? name === 'runs' : name !== 'gc';
