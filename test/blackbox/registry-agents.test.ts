/** Agents over HTTP. */
import { describe, expect, it } from 'vitest';
import { scopeFingerprint } from '../../shared/domain/scope.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { freshApi } from '../support/scopes.ts';

const etagOf = (answer: { headers: Headers }): string => answer.headers.get('etag') ?? '';
const definition = {
  description: 'Triage.',
  skills: ['a', 'b'],
  subagents: [{ name: 'reader', skills: ['a'] }, { name: 'all' }],
  model: 'some-model',
  instructions: 'Be brief.',
};

describe('POST /agents', () => {
  it('answers 201 with the agent, its revision, digest, scope key, ETag and where it is', async () => {
    const api = freshApi();

    const answer = await api.post('/agents', { name: 'triage', ...definition });

    expect(answer.status).toBe(201);
    expect(etagOf(answer)).toMatch(/^".+"$/);
    expect(answer.headers.get('location')).toBe('agents/triage');
    expect(answer.json).toMatchObject({
      name: 'triage',
      ...definition,
      sandbox_profile: 'default',
      revision: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/),
      definition_digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      scope_key: scopeFingerprint(api.scope),
    });
    expect((await api.get('/agents/triage')).json).toEqual(answer.json);
  });

  it('answers 409 where the name is taken', async () => {
    const api = freshApi();
    await api.post('/agents', { name: 'triage' });

    expectProblem(await api.post('/agents', { name: 'triage' }), 409, 'agent_exists');
  });

  it('may name a skill that is missing', async () => {
    expect((await freshApi().post('/agents', { name: 'triage', skills: ['no-such-skill'] })).status).toBe(
      201,
    );
  });

  it.each([
    ['a skill twice', { skills: ['a', 'a'] }],
    [
      'a subagent with a skill that the agent lacks',
      { skills: ['a'], subagents: [{ name: 's', skills: ['b'] }] },
    ],
    ['twenty-one skills', { skills: Array.from({ length: 21 }, (_, n) => `s${n}`) }],
    ['an unknown field', { skillz: [] }],
    ['a name that is none', { name: 'Not A Name' }],
    ['a lone surrogate in its instructions', { instructions: 'x\ud800' }],
  ])('with %s is 400 and stores nothing', async (_, fields) => {
    const api = freshApi();

    expectProblem(await api.post('/agents', { name: 'triage', ...fields }), 400, 'invalid_request');

    expect((await api.get('/agents')).json).toEqual({ items: [] });
  });
});

describe('a new scope', () => {
  it('has no agent at all: there are no defaults', async () => {
    const api = freshApi();

    expect((await api.get('/agents')).json).toEqual({ items: [] });
    expectProblem(await api.get('/agents/default'), 404, 'not_found');
    const run = await api.post('/runs', { agent: 'default', command: { argv: ['true'] } });
    expectProblem(run, 404, 'agent_not_found');
  });
});

describe('PUT /agents/{name}', () => {
  it('creates with 201 and replaces with 200, whole: what is left out is gone', async () => {
    const api = freshApi();

    const created = await api.put('/agents/triage', definition);
    const replaced = await api.put('/agents/triage', { skills: ['a'] });

    expect([created.status, replaced.status]).toEqual([201, 200]);
    expect(replaced.json).toMatchObject({ skills: ['a'], subagents: [], description: '' });
    expect(replaced.json.instructions).toBeUndefined();
    expect(replaced.json.revision).not.toBe(created.json.revision);
    expect(replaced.json.definition_digest).not.toBe(created.json.definition_digest);
    expect(etagOf(replaced)).not.toBe(etagOf(created));
  });

  it('with an equal definition keeps revision and digest', async () => {
    const api = freshApi();
    const created = await api.put('/agents/triage', definition);

    expect((await api.put('/agents/triage', definition)).json).toEqual(created.json);
  });

  it('with another name in the body is refused', async () => {
    expectProblem(await freshApi().put('/agents/triage', { name: 'other' }), 400, 'invalid_request');
  });

  it('honours If-Match and If-None-Match, also on what is not there', async () => {
    const api = freshApi();
    const first = etagOf(await api.put('/agents/triage', {}));
    await api.put('/agents/triage', definition, { 'if-match': first });

    const refused = [
      await api.put('/agents/triage', {}, { 'if-match': first }),
      await api.put('/agents/triage', {}, { 'if-none-match': '*' }),
      await api.put('/agents/missing', {}, { 'if-match': first }),
    ];

    for (const answer of refused) expectProblem(answer, 412, 'precondition_failed');
    expect((await api.get('/agents/triage')).json).toMatchObject(definition);
    expect((await api.get('/agents')).json.items).toHaveLength(1);
  });
});

describe('PATCH /agents/{name}', () => {
  it('changes what is named and leaves the rest', async () => {
    const api = freshApi();
    const { model: _cleared, ...kept } = definition;
    const created = await api.put('/agents/triage', definition);

    const patched = await api.patch('/agents/triage', { description: 'New.', model: null });

    expect(patched.status).toBe(200);
    expect(patched.json).toMatchObject({ ...kept, description: 'New.' });
    expect(patched.json.model).toBeUndefined();
    expect(patched.json.revision).not.toBe(created.json.revision);
    expect(etagOf(await api.get('/agents/triage'))).toBe(etagOf(patched));
  });

  it('that would leave a subagent outside the agent’s skills is refused', async () => {
    const api = freshApi();
    await api.put('/agents/triage', definition);

    expectProblem(await api.patch('/agents/triage', { skills: ['b'] }), 400, 'invalid_request');

    expect((await api.get('/agents/triage')).json.skills).toEqual(['a', 'b']);
  });

  it('honours If-Match, also on what is not there', async () => {
    const api = freshApi();
    const tag = etagOf(await api.put('/agents/triage', {}));
    await api.patch('/agents/triage', { description: 'x' });
    const change = { description: 'y' };

    expectProblem(await api.patch('/agents/triage', change, { 'if-match': tag }), 412, 'precondition_failed');
    expectProblem(await api.patch('/agents/none', change, { 'if-match': tag }), 412, 'precondition_failed');
    expectProblem(await api.patch('/agents/none', change), 404, 'not_found');
  });
});

describe('DELETE /agents/{name}', () => {
  it('answers 204, then 404; a new one of the name revives no old ETag', async () => {
    const api = freshApi();
    const old = etagOf(await api.put('/agents/triage', definition));

    const deleted = await api.delete('/agents/triage', { 'if-match': old });

    expect(deleted.status).toBe(204);
    expectProblem(await api.delete('/agents/triage'), 404, 'not_found');
    expectProblem(await api.delete('/agents/triage', { 'if-match': old }), 412, 'precondition_failed');
    const fresh = await api.put('/agents/triage', definition);
    expect(etagOf(fresh)).not.toBe(old);
    expectProblem(await api.delete('/agents/triage', { 'if-match': old }), 412, 'precondition_failed');
  });
});

describe('GET /agents', () => {
  it('pages by cursor through every agent once', async () => {
    const api = freshApi();
    const names = ['a', 'b', 'c'].map((letter) => `agent-${letter}`);
    for (const name of names.toReversed()) await api.putAgent(name, {});

    const first = (await api.get('/agents?limit=2')).json;
    const second = (await api.get(`/agents?limit=2&cursor=${first.next_cursor}`)).json;

    const listed = [...first.items, ...second.items].map((item: { name: string }) => item.name);
    expect(listed).toEqual(names);
    expect(second.next_cursor).toBeUndefined();
  });
});
