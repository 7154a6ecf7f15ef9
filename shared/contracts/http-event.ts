/**
 * The parts of API Gateway's REST proxy event that handlers use. Maps, because a header or parameter may be
 * called `__proto__`; lists, because a repeated one must be seen to be refused.
 */
import * as z from 'zod';

const isStrings = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

const lists = (nameOf: (name: string) => string) =>
  z.unknown().transform((value, context): ReadonlyMap<string, readonly string[]> => {
    const map = new Map<string, readonly string[]>();
    for (const [name, list] of Object.entries(value ?? {})) {
      if (isStrings(list)) map.set(nameOf(name), [...(map.get(nameOf(name)) ?? []), ...list]);
      else context.issues.push({ code: 'custom', input: list, path: [name], message: 'a list of strings' });
    }
    return map;
  });

export const httpEventSchema = z.object({
  httpMethod: z.string(),
  /** The route's template, e.g. `/v1/scopes/{scopeRef}/skills/{name}`. */
  resource: z.string(),
  pathParameters: z.record(z.string(), z.string()).nullish(),
  multiValueQueryStringParameters: lists((name) => name),
  /** By lower-case name. */
  multiValueHeaders: lists((name) => name.toLowerCase()),
  body: z.string().nullish(),
  isBase64Encoded: z.boolean(),
  requestContext: z.object({
    requestId: z.string(),
    identity: z.object({ accountId: z.string().nullish(), caller: z.string().nullish() }),
  }),
});
export type HttpEvent = z.infer<typeof httpEventSchema>;

/** `caller` is `AROA...:session name` of a role, `AIDA...` of a user: only what is before the colon is an identity. */
export const callerIdentitySchema = z
  .object({
    accountId: z.string().regex(/^[0-9]{12}$/),
    caller: z.string().regex(/^A[A-Z0-9]{15,127}(:|$)/),
  })
  .transform(({ accountId, caller }) => ({
    account_id: accountId,
    role_id: caller.split(':', 1).join(''),
  }));
export type Principal = z.infer<typeof callerIdentitySchema>;
