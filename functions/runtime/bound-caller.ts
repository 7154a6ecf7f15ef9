/** Who calls, and for which scope: checked before anything is read or parsed. */
import { LRUCache } from 'lru-cache';
import { callerIdentitySchema, type HttpEvent } from '../../shared/contracts/http-event.ts';
import type { EffectiveScope, ScopeBinding } from '../../shared/contracts/scope.ts';
import { CognitionError } from '../../shared/domain/cognition-error.ts';
import { decodeScopeRef, scopeFingerprint } from '../../shared/domain/scope.ts';
import type { ApiMiddleware, Caller } from './api-call.ts';
import { invalidRequest, namesScope, SCOPE_IN_PATH_ONLY } from './invalid-request.ts';
import { requestLogger } from './request-logger.ts';
import { mayAssert } from './scope-binding.ts';
import { services } from './services.ts';

interface KnownScope {
  readonly scope: EffectiveScope;
  readonly fingerprint: string;
}

/** Only of well-formed refs, which the bindings are still asked about at every request. */
const knownScopes = new LRUCache<string, KnownScope>({ max: 1_000 });

export const boundCaller: ApiMiddleware = {
  before: ({ context }) => {
    const call = context.api;
    if (call === undefined) throw new Error('the request context comes first in the chain');
    const caller = resolveCaller(call.http, services().bindings);
    refuseOtherScopes(call.http);
    const logger = requestLogger(call.logger, { fingerprint: caller.fingerprint });
    context.api = { ...call, caller, logger };
  },
};

/** One refusal for every reason, so that it tells nothing about scopes or bindings. */
const notAllowed = (): CognitionError =>
  new CognitionError(
    'scope_not_allowed',
    'this principal may not assert this scope; ask the operator for a binding',
  );

function resolveCaller(http: HttpEvent, bindings: readonly ScopeBinding[]): Caller {
  const ref = http.pathParameters?.scopeRef ?? '';
  const principal = callerIdentitySchema.safeParse(http.requestContext.identity);
  const known = principal.success ? knownScope(ref) : undefined;
  if (!principal.success || known === undefined || !mayAssert(bindings, principal.data, known.scope)) {
    services().metrics.add({ name: 'ScopeDenied' });
    throw notAllowed();
  }
  return {
    fingerprint: known.fingerprint,
    principal: `${principal.data.account_id}/${principal.data.role_id}`,
    secrets: [ref, ...Object.values(known.scope)],
  };
}

function knownScope(ref: string): KnownScope | undefined {
  const cached = knownScopes.get(ref);
  if (cached !== undefined) return cached;
  let scope: EffectiveScope;
  try {
    scope = decodeScopeRef(ref);
  } catch {
    return undefined;
  }
  const known = { scope, fingerprint: scopeFingerprint(scope) };
  knownScopes.set(ref, known);
  return known;
}

function refuseOtherScopes(http: HttpEvent): void {
  for (const name of http.multiValueHeaders.keys()) {
    if (namesScope(name)) throw invalidRequest(`the header ${name.slice(0, 64)}: ${SCOPE_IN_PATH_ONLY}`);
  }
  for (const name of http.multiValueQueryStringParameters.keys()) {
    if (namesScope(name))
      throw invalidRequest(`the query parameter ${name.slice(0, 64)}: ${SCOPE_IN_PATH_ONLY}`);
  }
}
