/** What lies beside a function's bundle, because an environment holds 4 KB. */
import { readFileSync } from 'node:fs';
import type * as z from 'zod';
import { DEPLOYED_FILES } from '../../../shared/contracts/function-environment.ts';
import { type SandboxProfile, sandboxProfilesSchema } from '../../../shared/contracts/sandbox-profile.ts';
import { type ScopeBinding, scopeBindingsSchema } from '../../../shared/contracts/scope.ts';

export const readBindings = (): readonly ScopeBinding[] => read(DEPLOYED_FILES.bindings, scopeBindingsSchema);

export const readProfiles = (): readonly SandboxProfile[] =>
  read(DEPLOYED_FILES.profiles, sandboxProfilesSchema);

function read<Schema extends z.ZodType>(name: string, schema: Schema): z.output<Schema> {
  return schema.parse(JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8')));
}
