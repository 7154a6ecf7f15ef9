/** The effective scope: an exact map such as {tenant, project}. Its URL form and hash are in domain/scope. */
import * as z from 'zod';
import { LIMITS } from './limits.ts';

export const scopeKeySchema = z.string().regex(/^[a-z][a-z0-9_]{0,31}$/);
export const scopeValueSchema = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/);

export const effectiveScopeSchema = z.record(scopeKeySchema, scopeValueSchema).refine((scope) => {
  const entries = Object.keys(scope).length;
  return entries >= 1 && entries <= LIMITS.scopeEntries;
}, `a scope has 1 to ${LIMITS.scopeEntries} entries`);
export type EffectiveScope = z.infer<typeof effectiveScopeSchema>;

/** Who may assert which scopes. `role_id` is the unique id (AROA..., AIDA...), never a session name. */
export const scopeBindingSchema = z.strictObject({
  account_id: z.string().regex(/^[0-9]{12}$/),
  role_id: z.string().regex(/^A[A-Z0-9]{15,127}$/),
  /** Exactly these keys; each value exact, or `*` for any value of that key. */
  scopes: z.array(z.record(scopeKeySchema, z.union([z.literal('*'), scopeValueSchema]))).min(1),
});
export const scopeBindingsSchema = z.array(scopeBindingSchema);
export type ScopeBinding = z.infer<typeof scopeBindingSchema>;
