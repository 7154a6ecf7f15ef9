import type * as z from 'zod';

export type Environment = Readonly<Record<string, string | undefined>>;

export type Variables<T> =
  | { readonly ok: true; readonly values: T }
  /** Each names its variable. */
  | { readonly ok: false; readonly problems: readonly string[] };

/** An empty value counts as not set. */
export function readVariables<Schema extends z.ZodType>(
  schema: Schema,
  environment: Environment,
): Variables<z.output<Schema>> {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => Boolean(value)));
  const parsed = schema.safeParse(given);
  if (parsed.success) return { ok: true, values: parsed.data };
  const problems = parsed.error.issues.map(({ path: [variable = ''], message }) => {
    const name = String(variable);
    return given[name] === undefined ? `${name} is missing` : `${name} ${message}`;
  });
  return { ok: false, problems };
}
