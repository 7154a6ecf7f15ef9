import type { Principal } from '../../shared/contracts/http-event.ts';
import type { EffectiveScope, ScopeBinding } from '../../shared/contracts/scope.ts';

/** Default deny: some binding of exactly this principal has exactly these keys, each with the value or `*`. */
export function mayAssert(
  bindings: readonly ScopeBinding[],
  principal: Principal,
  scope: EffectiveScope,
): boolean {
  return bindings.some(
    (binding) =>
      binding.account_id === principal.account_id &&
      binding.role_id === principal.role_id &&
      binding.scopes.some((allowed) => covers(allowed, scope)),
  );
}

function covers(allowed: Readonly<Record<string, string>>, scope: EffectiveScope): boolean {
  const keys = Object.keys(scope);
  return (
    keys.length === Object.keys(allowed).length &&
    keys.every((key) => Object.hasOwn(allowed, key) && (allowed[key] === '*' || allowed[key] === scope[key]))
  );
}
