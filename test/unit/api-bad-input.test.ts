import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { LIMITS } from '../../shared/contracts/limits.ts';
import { CognitionError } from '../../shared/domain/cognition-error.ts';
import { TransientError } from '../../shared/domain/transient-error.ts';
import { ConditionFailed, fakeServices } from '../support/api-fakes.ts';
import { call } from '../support/api-requests.ts';
import { ID, sampleRun, sampleSkill } from '../support/api-samples.ts';

const name = 'ticket-analysis';
const run = { agent: 'triage', command: { argv: ['true'] } };

describe('bodies', () => {
  beforeEach(() => void fakeServices());

  it.each([
    ['createSkill', { name: 7, content: 'x' }, '/name'],
    ['createSkill', { name, content: 'x', surprise: 1 }, '/surprise'],
    ['createSkill', { name }, ''],
    ['createSkill', { name, content: 'x', files: {} }, ''],
    ['createSkill', { name, files: [] }, '/files'],
    ['createSkill', { name, files: { 'a/b~c': 5 } }, '/files/a~1b~0c'],
    ['createAgent', { name: 'A' }, '/name'],
    ['createAgent', { name: 'a', skills: ['x', 'x'] }, '/skills'],
    ['createAgent', { name: 'a', constructor: 1 }, '/constructor'],
    ['createRun', { ...run, agent: null }, '/agent'],
    ['createRun', { ...run, command: { skill: 'a', script: 5 } }, '/command/script'],
    ['createRun', { ...run, command: { argv: ['a\0b'] } }, '/command/argv/0'],
    ['createRun', { ...run, stdin: 'a', stdin_json: {} }, '/stdin'],
    ['createRun', { ...run, env: { 'A=B': '1' } }, '/env/A=B'],
    ['createRun', { ...run, timeout_seconds: 3601 }, '/timeout_seconds'],
    ['createRun', [], ''],
    ['createRun', 'text', ''],
    ['patchSkill', {}, ''],
    ['patchSkill', { current_revision: 'x' }, '/current_revision'],
    ['cancelRun', { force: true }, '/force'],
  ])('%s %j is refused at %j', async (operation, json, pointer) => {
    const answer = await call(operation, { params: { name, runId: ID }, json });

    expect(answer.status).toBe(400);
    expect(answer.headers['content-type']).toBe('application/problem+json');
    expect(answer.json).toMatchObject({ code: 'invalid_request', status: 400, request_id: 'req-1' });
    expect(answer.json.errors.map((error: { pointer: string }) => error.pointer)).toContain(pointer);
  });

  it('every fault is listed, up to fifty', async () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`f${index}`, 1]));

    const two = await call('createAgent', { json: { name: 5, description: 5 } });
    const hundred = await call('createAgent', { json: { name: 'a', ...many } });

    expect(two.json.errors.map((error: { pointer: string }) => error.pointer)).toEqual([
      '/name',
      '/description',
    ]);
    expect(hundred.json.errors).toHaveLength(50);
  });

  it('broken JSON names line and column', async () => {
    const answer = await call('createRun', { body: '{"agent": "a",\n oops}' });

    expect(answer.status).toBe(400);
    expect(answer.json.detail).toContain('line 2, column 2');
  });

  it.each(['{"agent":"a","agent":"b"}', '{"agent":"\\ud800"}', '{"__proto__":1}', '['.repeat(100_000)])(
    'JSON that is not strict is refused',
    async (body) => {
      expect((await call('createRun', { body })).json.code).toBe('invalid_request');
    },
  );

  it('__proto__ as the name of a variable is refused and not lost', async () => {
    const answer = await call('createRun', {
      body: '{"agent":"a","command":{"argv":["x"]},"env":{"__proto__":"1"}}',
    });

    expect(answer.json.errors[0].pointer).toBe('/env/__proto__');
  });

  it('a body where none is taken is refused', async () => {
    expect((await call('getSkill', { params: { name }, body: '{}' })).status).toBe(400);
    expect((await call('deleteAgent', { params: { name }, body: ' ' })).status).toBe(400);
  });
});

describe('sizes and encodings', () => {
  beforeEach(
    () =>
      void fakeServices({
        skills: { create: async () => sampleSkill() },
        runs: { create: async () => sampleRun() },
      }),
  );
  const gzip = { 'Content-Encoding': 'gzip' };

  it('a body over 4 MiB is 413 and states the limit', async () => {
    const answer = await call('createSkill', { body: 'x'.repeat(LIMITS.requestBodyBytes + 1) });

    expect(answer.status).toBe(413);
    expect(answer.json).toMatchObject({ code: 'body_too_large' });
    expect(answer.json.detail).toContain(String(LIMITS.requestBodyBytes));
  });

  it('a package of more than 4 MiB is taken when it is gzipped', async () => {
    const json = JSON.stringify({ name, content: 'x'.repeat(5 * 1024 * 1024) });

    expect((await call('createSkill', { body: gzipSync(json), headers: gzip })).status).toBe(201);
  });

  it('only packages may be larger inflated than on the wire', async () => {
    const json = JSON.stringify({ ...run, stdin: 'x'.repeat(LIMITS.requestBodyBytes) });

    expect((await call('createRun', { body: gzipSync(json), headers: gzip })).status).toBe(413);
  });

  it('a gzip bomb is stopped at the cap, in flat memory', async () => {
    // 4 GiB in 4 MB: gzip lets members follow each other.
    const bomb = Buffer.concat(Array(400).fill(gzipSync(Buffer.alloc(10 * 1024 * 1024))));
    const before = process.memoryUsage().rss;

    const answer = await call('createSkill', { body: bomb, headers: gzip });

    expect(answer.status).toBe(413);
    expect(answer.json.detail).toContain(String(LIMITS.decodedBodyBytes));
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
  });

  it.each([
    ['gzip', 'not gzip'],
    ['gzip', gzipSync('{"a":1}').subarray(0, 15)],
    ['br', '{}'],
    ['deflate', '{}'],
    ['gzip, gzip', '{}'],
  ])('Content-Encoding %s with a body that is not so is refused', async (encoding, body) => {
    const answer = await call('createSkill', { body, headers: { 'content-encoding': encoding } });

    expect(answer.status).toBe(400);
    expect(answer.json.detail).toMatch(/gzip/);
  });

  it('an answer over 4 MiB is refused with the way to ask for less', async () => {
    fakeServices({ runs: { get: async () => ({ ...sampleRun(), stdout: '\u0000'.repeat(1_000_000) }) } });

    const answer = await call('getRun', { params: { runId: ID } });

    expect(answer.status).toBe(413);
    expect(answer.json.detail).toContain('ask for less');
  });
});

describe('queries and paths', () => {
  beforeEach(() => void fakeServices());

  it.each([
    ['listSkills', { limit: '0' }],
    ['listSkills', { limit: '201' }],
    ['listSkills', { limit: 'ten' }],
    ['listSkills', { limit: ['1', '2'] }],
    ['listSkills', { cursor: ['a', 'a'] }],
    ['listSkills', { ['__proto__']: 'x' }],
    ['getSkillFiles', { revision: 'latest' }],
    ['diffSkill', {}],
    ['listRunEvents', { wait_seconds: '21' }],
    ['listRunEvents', { after: '-1' }],
    ['getSkill', { name: 'other' }],
  ])('%s?%j is refused', async (operation, query) => {
    const answer = await call(operation, { params: { name, runId: ID }, query });

    expect(answer.status).toBe(400);
    expect(answer.json.code).toBe('invalid_request');
  });

  it.each([
    ['getSkill', { name: 'Not A Name' }],
    ['deleteSkill', { name: '../x' }],
    ['getSkill', { name: 'a'.repeat(65) }],
    ['getAgent', { name: 'a/b' }],
    ['getRun', { runId: `${ID}#x` }],
    ['getRun', { runId: '' }],
    ['getArtifact', { artifactId: 'x' }],
  ])('%s of %j, which can never exist, is not found without a look-up', async (operation, params) => {
    const answer = await call(operation, { params });

    expect(answer.status).toBe(404);
    expect(answer.json.code).toBe('not_found');
  });
});

describe('preconditions', () => {
  beforeEach(() => void fakeServices());

  it.each([
    { 'If-Match': 'e1' },
    { 'If-Match': 'W/"e1"' },
    { 'If-Match': '*' },
    { 'If-Match': '"a", "b"' },
    { 'If-Match': ['"a"', '"b"'] },
    { 'If-Match': '""' },
    { 'If-None-Match': '"e1"' },
    { 'If-None-Match': '*', 'If-Match': '"e1"' },
  ])('%j is refused on PUT', async (headers) => {
    const answer = await call('putSkill', { params: { name }, json: { content: 'x' }, headers });

    expect(answer.status).toBe(400);
    expect(answer.json.detail).toMatch(/If-(None-)?Match/i);
  });

  it('conditions that an operation cannot honour are refused, not dropped', async () => {
    expect(
      (await call('createSkill', { json: { name, content: 'x' }, headers: { 'If-None-Match': '*' } })).status,
    ).toBe(400);
    expect(
      (
        await call('patchSkill', {
          params: { name },
          json: { enabled: true },
          headers: { 'If-None-Match': '*' },
        })
      ).status,
    ).toBe(400);
    expect((await call('getSkill', { params: { name }, headers: { 'If-Match': '"e"' } })).status).toBe(400);
  });
});

describe('errors of services', () => {
  const failing = (error: unknown) =>
    fakeServices({
      skills: {
        get: async () => {
          throw error;
        },
      },
    });
  const get = () => call('getSkill', { params: { name } });

  it('a refusal of the product keeps its code, status and message', async () => {
    failing(new CognitionError('skill_not_found', 'no such skill in this scope'));

    const answer = await get();

    expect(answer.status).toBe(404);
    expect(answer.json).toEqual({
      type: 'about:blank',
      title: 'No such skill in this scope',
      status: 404,
      code: 'skill_not_found',
      detail: 'no such skill in this scope',
      request_id: 'req-1',
    });
  });

  it('problems of a package are passed on', async () => {
    const problems = [{ code: 'path_dot_segment' as const, path: 'a/../b', message: 'no dots' }];
    fakeServices({
      skills: {
        create: async () => {
          throw new CognitionError('invalid_package', '1 problem', { problems });
        },
      },
    });

    const answer = await call('createSkill', { json: { name, content: 'x' } });

    expect(answer.status).toBe(422);
    expect(answer.json.problems).toEqual(problems);
  });

  it('a busy store is 503 with Retry-After', async () => {
    failing(new TransientError('table throttled'));

    const answer = await get();

    expect(answer.status).toBe(503);
    expect(answer.json.code).toBe('unavailable');
    expect(answer.headers['retry-after']).toBe('1');
  });

  it('a quota says when to come again', async () => {
    failing(new CognitionError('quota_exceeded', 'too many runs', { retryAfterSeconds: 4.2 }));

    expect((await get()).headers['retry-after']).toBe('5');
  });

  it('a condition that did not hold is 409', async () => {
    failing(new ConditionFailed([0]));

    expect((await get()).json.code).toBe('conflict');
  });

  it('a full disk is 507', async () => {
    failing(new CognitionError('storage_full', 'no space'));

    expect((await get()).status).toBe(507);
  });

  it.each([
    new TypeError('secret internals'),
    'a string',
    undefined,
    new CognitionError('internal_error', 'secret internals'),
  ])('anything else is 500 that says nothing but the request id', async (error) => {
    const { logger } = failing(error);

    const answer = await get();

    expect(answer.status).toBe(500);
    expect(answer.json.detail).toBe('a fault on our side; report it with the request id req-1');
    expect(answer.text).not.toContain('secret');
    expect(logger.lines).toHaveLength(1);
    expect(logger.lines[0]).toMatchObject({
      level: 'error',
      fields: { request_id: 'req-1', code: 'internal_error' },
    });
  });

  it('a success writes no log line', async () => {
    const get = vi.fn(async () => sampleSkill());
    const { logger } = fakeServices({ skills: { get } });

    await call('getSkill', { params: { name } });

    expect(get).toHaveBeenCalledOnce();
    expect(logger.lines).toEqual([]);
  });
});
