import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchRoute } from '../../infra/local/gateway/match-route.ts';
import { parseTarget } from '../../infra/local/gateway/request-target.ts';
import { ROUTES } from '../../shared/contracts/routes.ts';
import { isCognitionError } from '../../shared/domain/cognition-error.ts';

const SCOPES = '/v1/scopes/abc';

describe('routes', () => {
  it.each(ROUTES.map((route) => [route.method, route.resource, route.operation]))(
    '%s %s is %s',
    (method, resource, operation) => {
      const match = matchRoute(method, resource.replace(/\{(\w+)\}/g, 'v-$1'));

      expect(match).toMatchObject({ kind: 'route', route: { operation } });
      const names = [...resource.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      expect(match.kind === 'route' && match.params).toEqual(
        Object.fromEntries(names.map((name) => [name, `v-${name}`])),
      );
    },
  );

  it('parameters are decoded once', () => {
    expect(matchRoute('GET', `${SCOPES}/skills/a%2Fb%2520c`)).toMatchObject({ params: { name: 'a/b%20c' } });
  });

  it.each([
    '/',
    '',
    '/v1',
    '/v2/scopes/abc/skills',
    `${SCOPES}/skills/`,
    `${SCOPES}//skills`,
    `/${SCOPES}/skills`,
    `${SCOPES}/skills/a/`,
    `${SCOPES}/skills//files`,
    '/v1/scopes//skills',
    `${SCOPES}/skills/..`,
    `${SCOPES}/skills/%2e%2E`,
    `${SCOPES}/skills/.`,
    `${SCOPES}/skills/a/../b`,
    `/v1/scopes/../scopes/abc/skills`,
    `${SCOPES}/skills%2Fa`,
    `${SCOPES}/%73kills`,
    `${SCOPES}/Skills`,
    `${SCOPES}/skills/a/files/b`,
    `${SCOPES}/skills/a;b/nothing`,
    '/%2Fv1/scopes/abc/skills',
    '/v1/scopes/abc%2Fskills',
    '/v1%2Fscopes/abc/skills',
  ])('%s is no route', (path) => {
    expect(matchRoute('GET', path).kind).toBe('no_such_path');
  });

  it.each([
    ['DELETE', `${SCOPES}/skills`, ['POST', 'GET']],
    ['HEAD', `${SCOPES}/skills/a`, ['GET', 'PUT', 'PATCH', 'DELETE']],
    ['get', `${SCOPES}/runs/x/manifest`, ['GET']],
  ])('%s %s names the methods there are', (method, path, allow) => {
    expect(matchRoute(method, path)).toEqual({ kind: 'no_such_method', allow });
  });

  it('no path and query make it throw anything but invalid_request', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          matchRoute('GET', parseTarget(`/v1/scopes/${text}`).path);
        } catch (error) {
          expect(isCognitionError(error, 'invalid_request')).toBe(true);
        }
      }),
    );
  });
});

describe('request targets', () => {
  it('queries are decoded once, in order, with every value', () => {
    const { query } = parseTarget('/x?a=1&b=%2520+c&a=2&flag&=v&e=a=b');

    expect([...query]).toEqual([
      ['a', ['1', '2']],
      ['b', ['%20 c']],
      ['flag', ['']],
      ['', ['v']],
      ['e', ['a=b']],
    ]);
  });

  it.each(['/x?a=%zz', '/x?%ff=1', '/x?__proto__=1', 'http://other/x', '*'])('%s is refused', (url) => {
    expect(() => parseTarget(url)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });

  it.each(['%zz', '%ff', '%'])('a path with %s is refused', (part) => {
    expect(() => matchRoute('GET', `${SCOPES}/skills/${part}`)).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    );
  });
});
