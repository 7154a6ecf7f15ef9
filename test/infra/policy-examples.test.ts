/**
 * What the example policies allow, asked of a policy simulator. IAM's `*` crosses slashes, and AWS does not document
 * whether the path in the ARN is the one that was sent or is decoded: the policies have to hold for both.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchRoute } from '../../infra/local/gateway/match-route.ts';
import { ROUTES, type Route } from '../../shared/contracts/routes.ts';
import { decodeScopeRef, encodeScopeRef } from '../../shared/domain/scope.ts';
import {
  EXAMPLE_POLICIES,
  exampleFiles,
  examplePolicy,
  isAllowed,
  type Place,
  pathOf,
  requestArn,
  routesOf,
} from '../support/iam-policies.ts';

const OWN = encodeScopeRef({ tenant: 'acme' });
const OTHER = encodeScopeRef({ tenant: 'globex' });
const EXAMPLES = Object.keys(EXAMPLE_POLICIES);
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'get', 'ANY'];

const allows = (example: string, method: string, path: string, place: Partial<Place> = {}) =>
  isAllowed({ arn: requestArn(method, path, place), identity: [examplePolicy(example, OWN)] });

/** What stands in the ARN for a path that was sent: as it is, or decoded once or twice. */
const ARN_FORMS: readonly ((path: string) => string)[] = [
  (path) => path,
  decoded,
  (path) => decoded(decoded(path)),
];

/** Whatever a gateway might make of a path before it looks for a route. */
const ROUTED_FORMS: readonly ((path: string) => string)[] = [
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

function withoutDots(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split('/').slice(1)) {
    if (segment === '..') kept.pop();
    else if (segment !== '.') kept.push(segment);
  }
  return `/${kept.join('/')}`;
}

interface Reached {
  readonly operation: string;
  /** Undefined when the handler would find no scope in the path. */
  readonly scope: string | undefined;
}

function reached(method: string, path: string): Reached | undefined {
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

/** What some gateway could make of a path: another scope, or another operation than was meant. */
function dangers(example: string, method: string, path: string): string[] {
  const meant = new Set(routesOf(example).map(({ operation }) => operation));
  return ROUTED_FORMS.flatMap((toRoute) => {
    const hit = reached(method, toRoute(path));
    if (hit?.scope === undefined || (hit.scope === OWN && meant.has(hit.operation))) return [];
    return [`${hit.operation} of ${hit.scope === OWN ? 'the own' : 'another'} scope`];
  });
}

/** The dangerous ones that the policy lets through, in any form that the path may have in the ARN. */
async function escapes(example: string, method: string, path: string): Promise<string[]> {
  const found = dangers(example, method, path);
  if (found.length === 0) return [];
  const forms = [...new Set(ARN_FORMS.map((toArn) => toArn(path)))];
  const passed = await Promise.all(forms.map((form) => allows(example, method, form)));
  return passed.includes(true) ? found : [];
}

describe('the example policies', () => {
  it('are the ones that are tested here', () => {
    expect(exampleFiles()).toEqual(EXAMPLES.map((name) => `${name}.json`).toSorted());
  });

  it.each(EXAMPLES)(
    '%s names each method and each resource of the route table that it is meant for',
    (name) => {
      const [allow, deny] = examplePolicy(name, OWN).Statement;

      const resources = routesOf(name).map(({ method, resource }) =>
        requestArn(method, resource.replace('{scopeRef}', OWN).replaceAll(/\{\w+\}/g, '*')),
      );
      expect(allow).toMatchObject({ Effect: 'Allow', Action: 'execute-api:Invoke', Resource: resources });
      expect(deny).toMatchObject({ Effect: 'Deny', Action: 'execute-api:Invoke' });
    },
  );

  it.each(EXAMPLES)('%s fits into a managed policy with a scope ref of up to 120 characters', (name) => {
    const text = JSON.stringify(examplePolicy(name, 'A'.repeat(120)));

    expect(text.length).toBeLessThanOrEqual(6_144);
  });

  it.each(EXAMPLES)('%s allows in its own scope exactly what it is meant to', async (name) => {
    const allowed: string[] = [];

    for (const route of ROUTES.filter(firstOfResource)) {
      for (const method of METHODS) {
        if (await allows(name, method, pathOf(route, OWN))) allowed.push(`${method} ${route.resource}`);
      }
    }

    const meant = routesOf(name).map(({ method, resource }) => `${method} ${resource}`);
    const routed = new Set(ROUTES.map(({ method, resource }) => `${method} ${resource}`));
    expect(allowed.filter((one) => routed.has(one)).toSorted()).toEqual(meant.toSorted());
  });

  it('takes names that look like other routes for names', async () => {
    for (const name of ['runs', 'skills', 'v1', 'scopes', 'files', 'package']) {
      expect(await allows('reader', 'GET', pathOf(ROUTES[2] ?? raise(), OWN, name))).toBe(true);
      expect(await allows('starter', 'GET', `/v1/scopes/${OWN}/skills/${name}`)).toBe(false);
    }
  });
});

describe.each(EXAMPLES)('no other scope: %s', (name) => {
  it.each([
    ['another one', OTHER],
    ['a longer ref that begins alike', `${OWN}A`],
    ['a scope of more keys that begins alike', encodeScopeRef({ tenant: 'acme', project: 'x' })],
    ['a shorter one', OWN.slice(0, -1)],
    ['another case', OWN.toLowerCase()],
    ['padding', `${OWN}=`],
    ['a star', '*'],
    ['a question mark', '?'],
    ['nothing', ''],
    ['the placeholder', 'SCOPE_REF'],
  ])('%s', async (_what, ref) => {
    for (const route of routesOf(name)) {
      expect(await allows(name, route.method, pathOf(route, ref)), route.operation).toBe(false);
    }
  });

  it.each<[string, Partial<Place>]>([
    ['another stage', { stage: 'test' }],
    ['a stage that begins alike', { stage: 'live2' }],
    ['another API', { apiId: 'zzzzzzzzzz' }],
    ['an API that begins alike', { apiId: 'a1b2c3d4e5f' }],
    ['another account', { account: '999999999999' }],
    ['another Region', { region: 'eu-west-1' }],
  ])('%s', async (_what, place) => {
    for (const route of routesOf(name)) {
      expect(await allows(name, route.method, pathOf(route, OWN), place), route.operation).toBe(false);
    }
  });

  it.each(hostilePaths())('%s', async (path) => {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
      expect(await escapes(name, method, path)).toEqual([]);
    }
  });

  it('whatever is written behind the own scope, or in front of it', async () => {
    await fc.assert(
      fc.asyncProperty(oddPath(), fc.constantFrom('GET', 'POST', 'DELETE'), async (path, method) => {
        expect(await escapes(name, method, path)).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });
});

describe('a session policy', () => {
  const both = ['builder', 'runner'].flatMap((name) => [
    examplePolicy(name, OWN),
    examplePolicy(name, OTHER),
  ]);
  const ask = (route: Route, ref: string) =>
    isAllowed({
      arn: requestArn(route.method, pathOf(route, ref)),
      identity: both,
      sessionPolicy: examplePolicy('runner', OWN),
    });

  it('narrows a role of two tenants to one tenant and one kind of caller', async () => {
    const meant = new Set(routesOf('runner'));

    for (const route of ROUTES) {
      expect(await ask(route, OWN), route.operation).toBe(meant.has(route));
      expect(await ask(route, OTHER), route.operation).toBe(false);
    }
  });

  it.each(['runner', 'starter'])(
    '%s fits into an inline one with a scope ref of up to 40 characters',
    (name) => {
      expect(JSON.stringify(examplePolicy(name, 'A'.repeat(40))).length).toBeLessThanOrEqual(2_048);
    },
  );
});

describe('the statement that denies odd paths', () => {
  const without = { ...examplePolicy('builder', OWN) };
  const allowOnly = { ...without, Statement: without.Statement.filter(({ Effect }) => Effect === 'Allow') };

  it('is needed: without it a path of dots is allowed that some gateway could take for another scope', async () => {
    const path = `/v1/scopes/${OWN}/skills/x/../../../${OTHER}/skills/y`;

    expect(await isAllowed({ arn: requestArn('GET', path), identity: [allowOnly] })).toBe(true);
    expect(reached('GET', withoutDots(path))).toEqual({ operation: 'getSkill', scope: OTHER });
    expect(await allows('builder', 'GET', path)).toBe(false);
  });

  it('takes nothing away that a client sends: names, ids and refs have no such characters', async () => {
    for (const route of ROUTES) {
      const arn = requestArn(route.method, pathOf(route, OWN, 'a-1-b'));
      expect(await allows('builder', route.method, pathOf(route, OWN, 'a-1-b'))).toBe(
        await isAllowed({ arn, identity: [allowOnly] }),
      );
    }
  });
});

/** Ways out of the own scope, and words of routes in no order. */
function oddPath(): fc.Arbitrary<string> {
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
      const tail = pathOf(route, OTHER)
        .split('/')
        .slice(climbs.length > 3 ? 1 : 3)
        .join(encoded ? '%2F' : '/');
      return `/v1/scopes/${OWN}/${from}${climbs.flat().join('')}${last}${tail}`;
    });
  const word = fc.constantFrom(
    OWN,
    OTHER,
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
      fc.constantFrom(`/v1/scopes/${OWN}/`, `/v1/scopes/${OTHER}/`, '/v1/'),
      fc.array(fc.oneof(slash, up, word, fc.string({ maxLength: 3 })), { maxLength: 10 }),
    )
    .map(([start, pieces]) => start + pieces.join(''));
  return fc.oneof({ weight: 3, arbitrary: climb }, { weight: 1, arbitrary: jumble });
}

function firstOfResource(route: Route): boolean {
  return ROUTES.find(({ resource }) => resource === route.resource) === route;
}

function hostilePaths(): string[] {
  const own = `/v1/scopes/${OWN}`;
  return [
    `${own}/skills/../../${OTHER}/skills`,
    `${own}/skills/x/../../../${OTHER}/skills/y`,
    `${own}/skills/%2e%2e/%2e%2e/${OTHER}/skills`,
    `${own}/skills/%2E%2E%2F%2E%2E%2F${OTHER}%2Fskills`,
    `${own}/skills/..%2F..%2F${OTHER}%2Fskills`,
    `${own}/skills/%252e%252e/%252e%252e/${OTHER}/skills`,
    `${own}/skills/..%252F..%252F${OTHER}`,
    `${own}/skills/..\\..\\${OTHER}\\skills`,
    `${own}/skills/..;/..;/${OTHER}/skills`,
    `${own}/skills/x;a=../../${OTHER}`,
    `${own}/../${OTHER}/skills`,
    `${own}/./../${OTHER}/runs`,
    `${own}/runs/x/../../../${OTHER}/runs/y/cancel`,
    `${own}/agents/x/..%2f..%2f..%2f${OTHER}%2fagents%2fy`,
    `${own}%2F..%2F${OTHER}/skills`,
    `/v1/scopes/${OTHER}/../${OWN}/skills/x`,
    `/v1/scopes/${OTHER}%2F..%2F${OWN}/skills/x`,
    `/v1/scopes/${OWN}%2Fskills%2Fx/skills`,
    `/v1/scopes/${OTHER}/skills/x/revisions/..%2F..%2F..%2F..%2F${OWN}%2Fskills%2Fx`,
    `//v1/scopes/${OTHER}/skills`,
    `/v1//scopes/${OTHER}/skills`,
    `/v1/scopes//${OTHER}/skills`,
    `${own}//${OTHER}/skills`,
    `${own}/skills//`,
    `${own}/skills/`,
    `${own}/skills/x/`,
    `${own}/Skills/x`,
    `/V1/Scopes/${OWN}/skills`,
    `${own}/skills/*`,
    `${own}/skills/?x`,
    `/v1/scopes/*/skills`,
    `/v1/scopes/?/skills`,
    `/v1/scopes/${OWN}*/skills`,
    `${own}/skills/x?scope=${OTHER}`,
    `${own}/skills/x#/../../${OTHER}`,
    `${own}/skills/%00`,
    `${own}/skills/%c0%ae%c0%ae/${OTHER}`,
    `${own}/skills/${'a/'.repeat(300)}x`,
  ];
}

function raise(): never {
  throw new Error('the route table is empty');
}
