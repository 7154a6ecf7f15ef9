/** Idempotency-Key on the three calls that take it. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Answer, Api } from '../support/api.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { scopeWithAgent, shellRun } from '../support/run-scope.ts';
import { skillMd } from '../support/skill-files.ts';

interface Creation {
  readonly path: string;
  send(api: Api, value: string, key: string): Promise<Answer>;
  /** How many things of this kind the scope has. */
  count?(api: Api): Promise<number>;
}

const listed = async (api: Api, path: string): Promise<number> => (await api.get(path)).json.items.length;

const CREATIONS: readonly Creation[] = [
  {
    path: '/runs',
    send: (api, value, key) =>
      api.post('/runs', shellRun('true', { stdin: value }), { 'idempotency-key': key }),
    count: (api) => listed(api, '/runs'),
  },
  {
    path: '/skills',
    send: (api, value, key) =>
      api.post('/skills', { name: 't1', content: skillMd('t1', value) }, { 'idempotency-key': key }),
    count: (api) => listed(api, '/skills'),
  },
  {
    path: '/artifacts',
    send: (api, value, key) =>
      api.call('POST', '/artifacts', {
        body: value,
        headers: { 'idempotency-key': key, 'content-type': 'a/b' },
      }),
  },
];

describe.each(CREATIONS)('Idempotency-Key on POST $path', ({ send, count }) => {
  it('gives the first answer again, headers and all, and does nothing twice', async () => {
    const api = await scopeWithAgent();
    const key = randomUUID();

    const first = await send(api, 'one', key);
    const again = await send(api, 'one', key);

    expect(first.status).toBeLessThan(300);
    expect([again.status, again.json]).toEqual([first.status, first.json]);
    for (const name of ['etag', 'location', 'content-type']) {
      expect(again.headers.get(name), name).toBe(first.headers.get(name));
    }
    if (count !== undefined) expect(await count(api)).toBe(1);
  });

  it('with another body is 409 and does nothing', async () => {
    const api = await scopeWithAgent();
    const key = randomUUID();
    await send(api, 'one', key);

    expectProblem(await send(api, 'two', key), 409, 'idempotency_mismatch');

    if (count !== undefined) expect(await count(api)).toBe(1);
  });

  it('of ten requests at once does the work once, and all get one answer', async () => {
    const api = await scopeWithAgent();
    const key = randomUUID();

    const answers = await Promise.all(Array.from({ length: 10 }, () => send(api, 'one', key)));

    expect(new Set(answers.map(({ bytes }) => bytes.toString())).size).toBe(1);
    expect(answers[0]?.status).toBeLessThan(300);
    if (count !== undefined) expect(await count(api)).toBe(1);
  });

  it('is the scope’s own: another scope with the same key does its own work', async () => {
    const [one, two] = [await scopeWithAgent(), await scopeWithAgent()];
    const key = randomUUID();

    const answers = [await send(one, 'one', key), await send(two, 'two', key)];

    expect(answers.map(({ status }) => status < 300)).toEqual([true, true]);
    expect(answers[0]?.json).not.toEqual(answers[1]?.json);
  });

  it('that is empty or too long is refused', async () => {
    const api = await scopeWithAgent();

    expectProblem(await send(api, 'one', 'k'.repeat(256)), 400, 'invalid_request');
  });
});

describe('Idempotency-Key', () => {
  it('of one call means nothing to another', async () => {
    const api = await scopeWithAgent();
    const key = randomUUID();

    const answers = [];
    for (const { send } of CREATIONS) answers.push(await send(api, 'one', key));

    expect(answers.map(({ status }) => status)).toEqual([202, 201, 201]);
  });

  it('is not used up by a refused request', async () => {
    const api = await scopeWithAgent();
    const headers = { 'idempotency-key': randomUUID() };
    const body = { name: 't1', content: skillMd('t1') };

    const refused = await api.post('/skills', { ...body, content: 'no frontmatter' }, headers);
    const accepted = await api.post('/skills', body, headers);

    expectProblem(refused, 422, 'invalid_package');
    expect(accepted.status).toBe(201);
  });
});
