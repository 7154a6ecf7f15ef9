/**
 * What the example policies allow, asked of a policy simulator. IAM's `*` crosses slashes, and AWS does not document
 * whether the path in the ARN is the one that was sent or is decoded: the policies have to hold for both.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ROUTES, type Route } from '../../shared/contracts/routes.ts';
import { encodeScopeRef } from '../../shared/domain/scope.ts';
import {
  ARN_FORMS,
  hostilePaths,
  oddPath,
  ROUTED_FORMS,
  reached,
  withoutDots,
} from '../support/hostile-paths.ts';
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

  it.each(hostilePaths({ own: OWN, other: OTHER }))('%s', async (path) => {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
      expect(await escapes(name, method, path)).toEqual([]);
    }
  });

  it('whatever is written behind the own scope, or in front of it', async () => {
    await fc.assert(
      fc.asyncProperty(
        oddPath({ own: OWN, other: OTHER }),
        fc.constantFrom('GET', 'POST', 'DELETE'),
        async (path, method) => {
          expect(await escapes(name, method, path)).toEqual([]);
        },
      ),
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

function firstOfResource(route: Route): boolean {
  return ROUTES.find(({ resource }) => resource === route.resource) === route;
}

function raise(): never {
  throw new Error('the route table is empty');
}
