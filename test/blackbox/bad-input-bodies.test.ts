/** Bodies that no call takes: a clear 4xx that says what and where, and nothing stored. */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Answer, CallOptions } from '../support/api.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { scopeWithSkill } from '../support/run-scope.ts';
import { skillMd } from '../support/skill-files.ts';
import { storedThings } from '../support/stored-things.ts';

const MiB = 1024 * 1024;
const CALLS = [
  ['POST', '/skills'],
  ['PUT', '/skills/t1'],
  ['PATCH', '/skills/t1'],
  ['POST', '/skill-validations'],
  ['POST', '/agents'],
  ['PUT', '/agents/agent'],
  ['PATCH', '/agents/agent'],
  ['POST', '/runs'],
] as const;
const JSON_TYPE = { 'content-type': 'application/json' };

/** Sends to a furnished scope and sees that it is as before. */
async function refused(method: string, path: string, options: CallOptions): Promise<Answer> {
  const api = await scopeWithSkill({ 'scripts/x.sh': 'true' });
  const before = await storedThings(api);
  const answer = await api.call(method, path, options);
  expect(await storedThings(api)).toEqual(before);
  return answer;
}

const text = (body: string | Uint8Array<ArrayBuffer>): CallOptions => ({ body, headers: JSON_TYPE });

describe.each(CALLS)('%s %s', (method, path) => {
  const bodies: Record<string, string | Uint8Array<ArrayBuffer>> = {
    'broken JSON': '{"name": "t9",\n  oops}',
    'JSON that is cut': '{"name": "t9"',
    'two values': '{} {}',
    'a trailing comma': '{"description": "x",}',
    'a comment': '{} // x',
    'single quotes': "{'name': 't9'}",
    NaN: '{"name": NaN}',
    nothing: '',
    'white space': ' \n ',
    null: 'null',
    'a list': '[]',
    'a string': '"t9"',
    'a number': '7',
    'a key twice': '{"enabled": true, "enabled": true, "description": "x", "description": "x"}',
    'bytes that are not UTF-8': new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    'a lone surrogate': '{"description": "\\ud800", "name": "\\udc00"}',
    '__proto__ as a key': '{"__proto__": {"name": "t9"}}',
    'constructor as a key': '{"constructor": {"prototype": {"name": "t9"}}}',
    'an unknown field': '{"surprise": 1}',
    'a hundred thousand levels': '['.repeat(100_000) + ']'.repeat(100_000),
    'a hundred thousand levels of objects': `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
    'half a million values': `[${'0,'.repeat(500_000)}0]`,
  };

  it.each(Object.entries(bodies))('of %s is 400', async (_, body) => {
    expectProblem(await refused(method, path, text(body)), 400, 'invalid_request');
  });

  it('over 4 MiB is 413 and states the limit', async () => {
    const answer = await refused(method, path, text(`{"description": "${'x'.repeat(4 * MiB)}"}`));

    expectProblem(answer, 413, 'body_too_large');
    expect(answer.json.detail).toContain('4194304');
  });

  it('that is a gzip bomb is 413 and states the limit', async () => {
    const member = gzipSync(Buffer.alloc(20 * MiB, 0x20));
    const bomb = Buffer.concat(Array(Math.floor((3 * MiB) / member.length)).fill(member));

    const answer = await refused(method, path, {
      body: new Uint8Array(bomb),
      headers: { ...JSON_TYPE, 'content-encoding': 'gzip' },
    });

    expectProblem(answer, 413, 'body_too_large');
    expect(answer.json.detail).toMatch(/25165824|4194304/);
  });

  it.each([
    ['gzip', 'not gzip'],
    ['br', '{}'],
    ['gzip, gzip', '{}'],
  ])('with Content-Encoding %s and a body that is not so is 400', async (encoding, body) => {
    const headers = { ...JSON_TYPE, 'content-encoding': encoding };

    expectProblem(await refused(method, path, { body, headers }), 400, 'invalid_request');
  });
});

describe('wrong types', () => {
  const skill = { name: 't9', content: skillMd('t9') };
  const run = { agent: 'agent', command: { argv: ['true'] } };
  it.each<[string, string, unknown, string]>([
    ['POST', '/skills', { ...skill, name: 7 }, '/name'],
    ['POST', '/skills', { ...skill, enabled: 'yes' }, '/enabled'],
    ['POST', '/skills', { ...skill, content: ['x'] }, '/content'],
    ['POST', '/skills', { name: 't9' }, ''],
    ['POST', '/skills', { ...skill, files: {} }, ''],
    ['POST', '/skills', { name: 't9', files: [] }, '/files'],
    ['POST', '/skills', { name: 't9', files: { 'SKILL.md': 5 } }, '/files/SKILL.md'],
    ['POST', '/skills', { name: 't9', files: { 'a/b': null } }, '/files/a~1b'],
    ['PUT', '/skills/t9', { files: { 'SKILL.md': { text: 'x' } } }, '/files/SKILL.md'],
    ['PATCH', '/skills/t1', {}, ''],
    ['PATCH', '/skills/t1', { enabled: null }, '/enabled'],
    ['PATCH', '/skills/t1', { current_revision: 'latest' }, '/current_revision'],
    ['POST', '/agents', { name: 'b', skills: 't1' }, '/skills'],
    ['POST', '/agents', { name: 'b', skills: [1] }, '/skills/0'],
    ['POST', '/agents', { name: 'b', subagents: [{}] }, '/subagents/0/name'],
    ['PUT', '/agents/b', { description: 5 }, '/description'],
    ['PATCH', '/agents/agent', { skills: null }, '/skills'],
    ['POST', '/runs', { ...run, agent: null }, '/agent'],
    ['POST', '/runs', { agent: 'agent' }, '/command'],
    ['POST', '/runs', { ...run, command: 'true' }, '/command'],
    ['POST', '/runs', { ...run, command: { argv: 'true' } }, '/command/argv'],
    ['POST', '/runs', { ...run, command: { argv: [] } }, '/command/argv'],
    ['POST', '/runs', { ...run, timeout_seconds: '5' }, '/timeout_seconds'],
    ['POST', '/runs', { ...run, timeout_seconds: 0 }, '/timeout_seconds'],
    ['POST', '/runs', { ...run, timeout_seconds: 3601 }, '/timeout_seconds'],
    ['POST', '/runs', { ...run, timeout_seconds: 1.5 }, '/timeout_seconds'],
    ['POST', '/runs', { ...run, stdin: 5 }, '/stdin'],
    ['POST', '/runs', { ...run, stdin: 'a', stdin_json: {} }, '/stdin'],
    ['POST', '/runs', { ...run, env: [] }, '/env'],
    ['POST', '/runs', { ...run, inputs: {} }, '/inputs'],
    ['POST', '/runs', { ...run, inputs: [{ path: 'x' }] }, '/inputs/0/artifact_id'],
    ['POST', '/runs', { ...run, outputs: '*' }, '/outputs'],
    ['POST', '/runs', { ...run, outputs: [''] }, '/outputs/0'],
  ])('%s %s %j is 400 at %j', async (method, path, json, pointer) => {
    const answer = await refused(method, path, { json });

    expectProblem(answer, 400, 'invalid_request');
    expect(answer.json.errors.map((error: { pointer: string }) => error.pointer)).toContain(pointer);
  });
});

describe('what the gateway is asked', () => {
  it.each([
    ['GET', '/skills/__proto__', 404],
    ['GET', '/skills/constructor', 404],
    ['DELETE', '/skills/__proto__', 404],
    ['GET', '/agents/__proto__', 404],
    ['GET', '/runs/__proto__', 404],
    ['GET', '/artifacts/constructor', 404],
    ['GET', '/skills/a%00b', 404],
  ])('%s %s is %i', async (method, path, status) => {
    const answer = await refused(method, path, {});

    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
  });

  it.each([
    ['GET', '/skills/%2e%2e%2fagents', 404],
    ['GET', '/nothing', 404],
    ['GET', '/skills/t1/files/x', 404],
    ['PUT', '/skills', 405],
    ['DELETE', '/runs', 405],
    ['POST', '/skills/t1', 405],
    ['GET', '/skill-validations', 405],
  ])(
    '%s %s, which no route takes, is %i, or 403 of a gateway that tells no more',
    async (method, path, status) => {
      const gateway = await refused('GET', '/no/such/path', {});

      const answer = await refused(method, path, {});

      expect([403, 404]).toContain(gateway.status);
      // API Gateway has one answer for all of it and for requests without a signature.
      expect(answer.status).toBe(gateway.status === 403 ? 403 : status);
      expect(answer.headers.get('content-type')).toBe('application/problem+json');
    },
  );

  it.each([
    ['GET', '/skills/t1', { 'if-match': '"x"' }],
    ['POST', '/runs', { 'if-match': '"x"' }],
    ['PUT', '/skills/t1', { 'if-match': 'x' }],
    ['PUT', '/skills/t1', { 'if-match': '*' }],
    ['PUT', '/skills/t1', { 'if-match': 'W/"x"' }],
    ['PUT', '/skills/t1', { 'if-none-match': '"x"' }],
    ['PUT', '/skills/t1', { 'if-none-match': '*', 'if-match': '"x"' }],
    ['PATCH', '/skills/t1', { 'if-none-match': '*' }],
  ])('%s %s with %j, a condition that cannot be honoured, is refused', async (method, path, headers) => {
    const json = method === 'GET' ? {} : { json: { enabled: true } };

    expectProblem(await refused(method, path, { ...json, headers }), 400, 'invalid_request');
  });

  it.each(['GET', 'DELETE'])('a body with %s is refused', async (method) => {
    // fetch sends no body with GET, so both go as DELETE and as a POST that takes none.
    const path = method === 'GET' ? `/runs/${'0'.repeat(26)}/cancel` : '/skills/t1';
    const answer = await refused(method === 'GET' ? 'POST' : method, path, { body: '[1]' });

    expectProblem(answer, 400, 'invalid_request');
  });

  it.each(['?surprise=1', '?path=a&path=b', '?revision=x', '?__proto__=x', '?constructor=x'])(
    'GET /skills/t1/files%s is refused',
    async (query) => {
      expectProblem(await refused('GET', `/skills/t1/files${query}`, {}), 400, 'invalid_request');
    },
  );
});
