/** The effective scope: an exact map such as {tenant, project}. Its URL form and hash are in domain/scope. */
import * as z from 'zod';
import { LIMITS } from './limits.ts';

export const scopeKeySchema = z
  .string()
  .regex(
    /^[a-z][a-z0-9_]{0,31}$/,
    'a key is 1 to 32 lower-case letters, digits and underscores, beginning with a letter',
  );
export const scopeValueSchema = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/);

export const effectiveScopeSchema = z.record(scopeKeySchema, scopeValueSchema).refine((scope) => {
  const entries = Object.keys(scope).length;
  return entries >= 1 && entries <= LIMITS.scopeEntries;
}, `a scope has 1 to ${LIMITS.scopeEntries} entries`);
export type EffectiveScope = z.infer<typeof effectiveScopeSchema>;

const boundValueSchema = z
  .string()
  .refine(
    (value) => value === '*' || scopeValueSchema.safeParse(value).success,
    'a value is * alone, for any, or exact: 1 to 128 letters, digits and ._:@-, beginning with a letter or digit',
  );

/** Who may assert which scopes. `role_id` is the unique id (AROA..., AIDA...), never a session name. */
export const scopeBindingSchema = z.strictObject({
  account_id: z.string().regex(/^[0-9]{12}$/),
  role_id: z.string().regex(/^A[A-Z0-9]{15,127}$/),
  /** Exactly these keys; each value exact, or `*` for any value of that key. */
  scopes: z.array(z.record(scopeKeySchema, boundValueSchema)).min(1),
});
export const scopeBindingsSchema = z.array(scopeBindingSchema);
export type ScopeBinding = z.infer<typeof scopeBindingSchema>;
