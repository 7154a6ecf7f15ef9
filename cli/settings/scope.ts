/** The effective scope that commands work in, and which source said so. */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { type EffectiveScope, effectiveScopeSchema } from '../../shared/contracts/scope.ts';
import { CliFailure, usage } from '../failure.ts';
import type { CliIo } from '../io.ts';
import { configDirectory } from './config-directory.ts';
import { readSettingsJson } from './read-settings-json.ts';

const storedSettingsSchema = z.strictObject({ scope: effectiveScopeSchema.optional() });

export interface ScopeChoice {
  readonly scope: EffectiveScope;
  /** `--scope`, `COGNITION_SCOPE`, or the path of the file. */
  readonly source: string;
}

const storedPath = (env: CliIo['env']): string => join(configDirectory(env), 'config.json');

/** @param texts each `key=value`, or several of them with commas */
export function parseScope(texts: readonly string[], source: string): EffectiveScope {
  const entries = new Map<string, string>();
  for (const entry of texts.flatMap((text) => text.split(','))) {
    const [key, value, ...more] = entry.split('=');
    if (key === undefined || value === undefined || more.length > 0) {
      throw usage(`${source}: ${JSON.stringify(entry)} is not key=value`, 'e.g. tenant=acme,project=support');
    }
    if (entries.has(key)) throw usage(`${source} names ${JSON.stringify(key)} twice`);
    entries.set(key, value);
  }
  const scope = effectiveScopeSchema.safeParse(Object.fromEntries(entries));
  if (scope.success) return scope.data;
  const [issue] = scope.error.issues;
  const where =
    issue === undefined || issue.path.length === 0 ? '' : ` ${JSON.stringify(issue.path.join('.'))}`;
  throw usage(
    `${source}:${where} is not a scope entry (1 to 16 of them)`,
    'keys are [a-z][a-z0-9_]*, values begin with a letter or digit and go on with letters, digits and ._:@-',
  );
}

export async function resolveScope(flags: readonly string[], env: CliIo['env']): Promise<ScopeChoice> {
  if (flags.length > 0) return { scope: parseScope(flags, '--scope'), source: '--scope' };
  const fromEnv = env.COGNITION_SCOPE;
  if (fromEnv !== undefined && fromEnv !== '') {
    return { scope: parseScope([fromEnv], 'COGNITION_SCOPE'), source: 'COGNITION_SCOPE' };
  }
  const path = storedPath(env);
  const stored = await readSettingsJson(path, storedSettingsSchema);
  if (stored?.scope !== undefined) return { scope: stored.scope, source: path };
  throw new CliFailure('no_scope', 'no scope is set', {
    fix: 'run `cognition scope use tenant=NAME`, or give --scope tenant=NAME or COGNITION_SCOPE',
  });
}

/** @returns the path of the file; it is replaced whole or not at all */
export async function storeScope(scope: EffectiveScope, env: CliIo['env']): Promise<string> {
  const path = storedPath(env);
  await mkdir(configDirectory(env), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, `${JSON.stringify({ scope }, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  return path;
}
