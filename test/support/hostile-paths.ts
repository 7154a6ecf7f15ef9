/** Paths made to look like one scope's and to be another's, and every way in which a gateway might read them. */
import fc from 'fast-check';
import { matchRoute } from '../../infra/local/gateway/match-route.ts';
import { ROUTES } from '../../shared/contracts/routes.ts';
import { decodeScopeRef } from '../../shared/domain/scope.ts';
import { pathOf } from './iam-policies.ts';

/** Scope refs. */
export interface TwoScopes {
  readonly own: string;
  readonly other: string;
}

/** What stands in the ARN for a path that was sent: as it is, or decoded once or twice. */
export const ARN_FORMS: readonly ((path: string) => string)[] = [
  (path) => path,
  decoded,
  (path) => decoded(decoded(path)),
];

/** Whatever a gateway might make of a path before it looks for a route. */
export const ROUTED_FORMS: readonly ((path: string) => string)[] = [
  (path) => path,
  decoded,
  (path) => decoded(decoded(path)),
  (path) => withoutDots(path),
  (path) => withoutDots(decoded(path)),
  (path) => withoutDots(decoded(decoded(path))),
  (path) => path.replaceAll(/\/{2,}/g, '/'),
  (path) => withoutDots(decoded(path).replaceAll('\\', '/')).replaceAll(/\/{2,}/g, '/'),
  (path) => path.replace(/\/$/, ''),
  (path) => path.replaceAll(/;[^/]*/g, ''),
];

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

export function withoutDots(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split('/').slice(1)) {
    if (segment === '..') kept.pop();
    else if (segment !== '.') kept.push(segment);
  }
  return `/${kept.join('/')}`;
}

export interface Reached {
  readonly operation: string;
  /** Undefined when the handler would find no scope in the path. */
  readonly scope: string | undefined;
}

/** What the gateway finds for a path, and for which scope. */
export function reached(method: string, path: string): Reached | undefined {
  let match: ReturnType<typeof matchRoute>;
  try {
    match = matchRoute(method, path);
  } catch {
    return undefined;
  }
  if (match.kind !== 'route') return undefined;
  const ref = match.params.scopeRef ?? '';
  return { operation: match.route.operation, scope: isScopeRef(ref) ? ref : undefined };
}

function isScopeRef(ref: string): boolean {
  try {
    decodeScopeRef(ref);
    return true;
  } catch {
    return false;
  }
}

/** Paths that begin or end in the own scope, and want to be the other's. */
export function hostilePaths({ own: ref, other }: TwoScopes): string[] {
  const own = `/v1/scopes/${ref}`;
  return [
    `${own}/skills/../../${other}/skills`,
    `${own}/skills/x/../../../${other}/skills/y`,
    `${own}/skills/%2e%2e/%2e%2e/${other}/skills`,
    `${own}/skills/%2E%2E%2F%2E%2E%2F${other}%2Fskills`,
    `${own}/skills/..%2F..%2F${other}%2Fskills`,
    `${own}/skills/%252e%252e/%252e%252e/${other}/skills`,
    `${own}/skills/..%252F..%252F${other}`,
    `${own}/skills/..\\..\\${other}\\skills`,
    `${own}/skills/..;/..;/${other}/skills`,
    `${own}/skills/x;a=../../${other}`,
    `${own}/../${other}/skills`,
    `${own}/./../${other}/runs`,
    `${own}/runs/x/../../../${other}/runs/y/cancel`,
    `${own}/agents/x/..%2f..%2f..%2f${other}%2fagents%2fy`,
    `${own}%2F..%2F${other}/skills`,
    `/v1/scopes/${other}/../${ref}/skills/x`,
    `/v1/scopes/${other}%2F..%2F${ref}/skills/x`,
    `/v1/scopes/${ref}%2Fskills%2Fx/skills`,
    `/v1/scopes/${other}/skills/x/revisions/..%2F..%2F..%2F..%2F${ref}%2Fskills%2Fx`,
    `//v1/scopes/${other}/skills`,
    `/v1//scopes/${other}/skills`,
    `/v1/scopes//${other}/skills`,
    `${own}//${other}/skills`,
    `${own}/skills//`,
    `${own}/skills/`,
    `${own}/skills/x/`,
    `${own}/Skills/x`,
    `/V1/Scopes/${ref}/skills`,
    `${own}/skills/*`,
    `${own}/skills/?x`,
    `/v1/scopes/*/skills`,
    `/v1/scopes/?/skills`,
    `/v1/scopes/${ref}*/skills`,
    `${own}/skills/x?scope=${other}`,
    `${own}/skills/x#/../../${other}`,
    `${own}/skills/%00`,
    `${own}/skills/%c0%ae%c0%ae/${other}`,
    `${own}/skills/${'a/'.repeat(300)}x`,
  ];
}

/** Ways out of the own scope, and words of routes in no order. */
export function oddPath({ own, other }: TwoScopes): fc.Arbitrary<string> {
  const slash = fc.constantFrom('/', '%2F', '%252F', '%2f', '\\', '//', '/./');
  const up = fc.constantFrom('..', '%2e%2e', '.%2E', '%252e%252e', '..;', '%2e.');
  const climb = fc
    .tuple(
      fc.constantFrom('skills/x', 'runs/x', 'agents/x', 'artifacts/x', 'skills', 'runs'),
      fc.array(fc.tuple(slash, up), { minLength: 1, maxLength: 5 }),
      slash,
      fc.constantFrom(...ROUTES),
      fc.boolean(),
    )
    .map(([from, climbs, last, route, encoded]) => {
      const tail = pathOf(route, other)
        .split('/')
        .slice(climbs.length > 3 ? 1 : 3)
        .join(encoded ? '%2F' : '/');
      return `/v1/scopes/${own}/${from}${climbs.flat().join('')}${last}${tail}`;
    });
  const word = fc.constantFrom(
    own,
    other,
    'v1',
    'scopes',
    'skills',
    'runs',
    'agents',
    'manifest',
    'files',
    'x',
  );
  const jumble = fc
    .tuple(
      fc.constantFrom(`/v1/scopes/${own}/`, `/v1/scopes/${other}/`, '/v1/'),
      fc.array(fc.oneof(slash, up, word, fc.string({ maxLength: 3 })), { maxLength: 10 }),
    )
    .map(([start, pieces]) => start + pieces.join(''));
  return fc.oneof({ weight: 3, arbitrary: climb }, { weight: 1, arbitrary: jumble });
}
