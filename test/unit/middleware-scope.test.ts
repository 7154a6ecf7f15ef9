import { beforeEach, describe, expect, it } from 'vitest';
import { encodeScopeRef, scopeFingerprint } from '../../shared/domain/scope.ts';
import { ACCOUNT, fakeServices, ROLE, SCOPE } from '../support/api-fakes.ts';
import { type Answer, call, type RequestParts } from '../support/api-requests.ts';
import { sampleSkill } from '../support/api-samples.ts';

const base64url = (text: string): string => Buffer.from(text).toString('base64url');
const get = (parts: RequestParts): Promise<Answer> =>
  call('getSkill', { ...parts, params: { name: 'ticket-analysis' } });

describe('a bound principal', () => {
  it.each([
    [SCOPE],
    [{ tenant: 'anything' }],
    [{ tenant: 'zebra-industries', project: 'any', stage: 'dev' }],
  ])('asserts %j and the service gets its fingerprint', async (scope) => {
    let seen = '';
    fakeServices({
      skills: {
        get: async (fingerprint) => {
          seen = fingerprint;
          return sampleSkill();
        },
      },
    });

    const answer = await get({ ref: encodeScopeRef(scope) });

    expect(answer.status).toBe(200);
    expect(seen).toBe(scopeFingerprint(scope));
  });

  it('is the same under every session name, and as a user without one', async () => {
    fakeServices({ skills: { get: async () => sampleSkill() } });

    for (const caller of [`${ROLE}:a`, `${ROLE}:b:c`, ROLE]) {
      expect((await get({ identity: { accountId: ACCOUNT, caller } })).status).toBe(200);
    }
  });
});

describe('everyone else gets one and the same 403, before any read or parse', () => {
  const json = JSON.stringify(SCOPE);
  const sorted = '{"project":"quagga-7731","tenant":"zebra-industries"}';
  const refs: [string, string][] = [
    ['unbound value', encodeScopeRef({ ...SCOPE, project: 'other' })],
    ['unbound value of another case', encodeScopeRef({ ...SCOPE, tenant: 'Zebra-Industries' })],
    ['fewer keys than bound', encodeScopeRef({ project: SCOPE.project })],
    ['more keys than bound', encodeScopeRef({ ...SCOPE, extra: 'x' })],
    [
      'bound key set with another key',
      encodeScopeRef({ tenant: 'zebra-industries', project: 'x', stage: 'prod' }),
    ],
    ['a star in place of a value', base64url('{"tenant":"*"}')],
    ['keys not sorted', base64url(json)],
    ['white space', base64url(sorted.replace(':', ': '))],
    ['padding', `${base64url(sorted)}=`],
    ['base64 and not base64url', Buffer.from('{"tenant":"a?>~"}').toString('base64')],
    ['a trailing bit', `${base64url(sorted).slice(0, -1)}${base64url(sorted).endsWith('Q') ? 'R' : '9'}`],
    ['percent-encoded twice', encodeURIComponent(base64url(sorted)).replace('e', '%65')],
    ['a duplicate key', base64url('{"tenant":"a","tenant":"b"}')],
    ['__proto__', base64url('{"__proto__":{"tenant":"a"}}')],
    ['an array', base64url('[]')],
    ['empty object', base64url('{}')],
    ['empty', ''],
    ['no base64', '!!!!'],
    ['plain JSON', sorted],
    ['too long', base64url(`{"tenant":"${'a'.repeat(600)}"}`)],
    ['a number as value', base64url('{"tenant":1}')],
    [
      'seventeen entries',
      encodeScopeRef(Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, 'v']))),
    ],
  ];
  const identities: [string, { accountId: string | null; caller: string | null }][] = [
    ['another account', { accountId: '999999999999', caller: `${ROLE}:some-session` }],
    ['another role', { accountId: ACCOUNT, caller: 'AROAOTHERROLEID00001:some-session' }],
    ['the role as session name', { accountId: ACCOUNT, caller: `AROAOTHERROLEID00001:${ROLE}` }],
    ['a prefix of the role', { accountId: ACCOUNT, caller: `${ROLE.slice(0, -1)}:s` }],
    ['the role with a suffix', { accountId: ACCOUNT, caller: `${ROLE}X:s` }],
    ['the role in lower case', { accountId: ACCOUNT, caller: `${ROLE.toLowerCase()}:s` }],
    ['white space', { accountId: ACCOUNT, caller: ` ${ROLE}:s` }],
    ['no caller', { accountId: ACCOUNT, caller: null }],
    ['no account', { accountId: null, caller: `${ROLE}:s` }],
    ['nobody', { accountId: null, caller: null }],
  ];
  let logger: ReturnType<typeof fakeServices>['logger'];
  beforeEach(() => {
    ({ logger } = fakeServices());
  });

  const cases: [string, RequestParts][] = [
    ...refs.map(([what, ref]): [string, RequestParts] => [`scope ref: ${what}`, { ref }]),
    ...identities.map(([what, identity]): [string, RequestParts] => [`principal: ${what}`, { identity }]),
  ];

  it.each(cases)('%s', async (_what, parts) => {
    const answer = await call('createSkill', { ...parts, body: '{broken', query: { limit: 'x' } });

    expect(answer.status).toBe(403);
    expect(answer.json).toEqual({
      type: 'about:blank',
      title: 'This principal may not assert this scope',
      status: 403,
      code: 'scope_not_allowed',
      detail: 'this principal may not assert this scope; ask the operator for a binding',
      request_id: 'req-1',
    });
    expect(logger.lines).toEqual([
      {
        level: 'info',
        message: 'request refused',
        fields: {
          request_id: 'req-1',
          route: 'POST /v1/scopes/{scopeRef}/skills',
          code: 'scope_not_allowed',
          status: 403,
        },
      },
    ]);
  });
});

describe('a scope that is named anywhere but in the path', () => {
  beforeEach(() => void fakeServices());
  const names = ['scope', 'scopes', 'effective_scope', 'scope_ref', 'scopeRef', 'Effective-Scope'];
  const headers = [
    'x-cognition-scope',
    'X-Cognition-Effective-Scope',
    'Scope',
    'x-scope-tenant',
    'x-effective-scope',
    'x-scope-ref',
  ];

  it.each(headers)('as header %s is refused', async (header) => {
    const answer = await get({ headers: { [header]: 'tenant=zebra-industries' } });

    expect(answer.status).toBe(400);
    expect(answer.json.detail).toContain('the scope is named by the path alone');
  });

  it.each(names)('as query parameter %s is refused', async (parameter) => {
    const answer = await get({ query: { [parameter]: encodeScopeRef(SCOPE) } });

    expect(answer.status).toBe(400);
    expect(answer.json.detail).toContain('the scope is named by the path alone');
  });

  it.each(
    names.flatMap((name) =>
      ['createSkill', 'createAgent', 'createRun'].map((operation) => [name, operation]),
    ),
  )('as member %s of the body of %s is refused', async (member, operation) => {
    const answer = await call(operation, { json: { [member]: SCOPE } });

    expect(answer.status).toBe(400);
    expect(answer.json.errors).toContainEqual({
      pointer: `/${member}`,
      message: 'the scope is named by the path alone; remove it here',
    });
  });

  it('is refused for an unbound principal with nothing but the usual 403', async () => {
    const answer = await get({ ref: 'x', headers: { 'x-cognition-scope': 'a' } });

    expect(answer.json.code).toBe('scope_not_allowed');
  });

  it('words that only contain it are fine', async () => {
    fakeServices({ skills: { get: async () => sampleSkill() } });

    expect((await get({ headers: { 'x-telescope': '1' } })).status).toBe(200);
  });
});
