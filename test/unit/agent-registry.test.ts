import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agentSchema, createAgentSchema, patchAgentSchema } from '../../shared/contracts/agent.ts';
import { LIMITS } from '../../shared/contracts/limits.ts';
import { TransientError } from '../../shared/domain/transient-error.ts';
import { createAgentRegistry } from '../../shared/services/agent-registry.ts';
import { definitionDigest } from '../../shared/services/agents/agent-definition.ts';
import {
  FINGERPRINT,
  failureOf,
  OTHER_FINGERPRINT,
  openRegistries,
  type Registries,
} from '../support/package-builders.ts';

let world: Registries;
beforeEach(async () => {
  world = await openRegistries();
});
afterEach(() => world.close());

const definition = (fields: object = {}) =>
  createAgentSchema.parse({ name: 'a1', description: 'd', skills: ['s1', 's2'], ...fields });
const create = (fields: object = {}) => world.agents.create(FINGERPRINT, definition(fields));
const patch = (fields: object, conditions = {}) =>
  world.agents.patch(FINGERPRINT, 'a1', patchAgentSchema.parse(fields), conditions);
const page = { limit: 50 };

/** The first write happens, but its reply is lost. */
function forgetful() {
  let lost = false;
  return createAgentRegistry({
    ...world,
    table: {
      get: (key) => world.table.get(key),
      query: (pk, options) => world.table.query(pk, options),
      transact: async (writes) => {
        const versions = await world.table.transact(writes);
        if (lost) return versions;
        lost = true;
        throw new TransientError('the reply was lost');
      },
    },
    ids: { next: () => '01ARZ3NDEKTSV4RRFFQ69G5FAV' },
    random: () => 0,
  });
}

describe('An agent', () => {
  it('is read as it was created, with its identity', async () => {
    const created = await create({ model: 'm', subagents: [{ name: 'sub', skills: ['s1'] }] });

    expect(await world.agents.get(FINGERPRINT, 'a1')).toEqual(created);
    expect(agentSchema.parse(created.value)).toEqual(created.value);
    expect(created.value).toMatchObject({ scope_key: FINGERPRINT, sandbox_profile: 'default', model: 'm' });
    expect((await world.agents.list(FINGERPRINT, page)).items).toEqual([created.value]);
  });

  it('may name skills that are not there', async () => {
    expect((await create({ skills: ['missing'] })).value.skills).toEqual(['missing']);
  });

  it('has instructions of so many bytes, not characters', () => {
    const fits = 'x'.repeat(LIMITS.instructionsBytes);

    expect(createAgentSchema.safeParse({ name: 'a1', instructions: fits }).success).toBe(true);
    expect(createAgentSchema.safeParse({ name: 'a1', instructions: `${fits.slice(1)}é` }).success).toBe(
      false,
    );
    expect(patchAgentSchema.safeParse({ instructions: `${fits.slice(1)}é` }).success).toBe(false);
  });

  it('that exists is agent_exists', async () => {
    await create();

    expect(await failureOf(create({ description: 'other' }))).toMatchObject({ code: 'agent_exists' });
  });

  it('is created once by ten at a time', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) => create({ description: String(index) })),
    );

    const failed = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(failed.map(({ reason }) => reason.code)).toEqual(Array(9).fill('agent_exists'));
  });

  it('is unknown in another scope', async () => {
    await create();
    const calls = [
      world.agents.get(OTHER_FINGERPRINT, 'a1'),
      world.agents.patch(OTHER_FINGERPRINT, 'a1', { description: 'x' }, {}),
      world.agents.delete(OTHER_FINGERPRINT, 'a1', {}),
    ];

    expect(await Promise.all(calls.map(failureOf))).toMatchObject(Array(3).fill({ code: 'not_found' }));
    expect((await world.agents.list(OTHER_FINGERPRINT, page)).items).toEqual([]);
  });

  it.each(['', 'A1', '../a', '__proto__', '\ud800'])('called %j is not_found', async (name) => {
    expect(await failureOf(world.agents.get(FINGERPRINT, name))).toMatchObject({ code: 'not_found' });
  });

  it('whose text has a lone surrogate is refused with the place', async () => {
    const failure = await failureOf(create({ subagents: [{ name: 'sub', description: 'a\ud800' }] }));

    expect(failure).toMatchObject({
      code: 'invalid_request',
      details: { errors: [{ pointer: '/subagents/0/description' }] },
    });
  });
});

describe('Putting an agent', () => {
  const put = (fields: object, conditions = {}) =>
    world.agents.put(FINGERPRINT, definition(fields), conditions);

  it('creates, then replaces with a new revision', async () => {
    const first = await put({});
    world.clock.advance(1_000);
    const second = await put({ description: 'other' });

    expect([first.created, second.created]).toEqual([true, false]);
    expect(second.value.revision).not.toBe(first.value.revision);
    expect(second.value.definition_digest).not.toBe(first.value.definition_digest);
    expect(second.value.created_at).toBe(first.value.created_at);
    expect(second.value.updated_at > first.value.updated_at).toBe(true);
  });

  it('of an equal definition keeps revision and ETag', async () => {
    const first = await put({});
    world.clock.advance(1_000);

    expect(await put({})).toEqual({ ...first, created: false });
  });

  it('honours If-Match and If-None-Match', async () => {
    const refused = { code: 'precondition_failed' };
    expect(await failureOf(put({}, { if_match: 'x' }))).toMatchObject(refused);
    const { etag } = await put({}, { if_none_match: true });
    expect(await failureOf(put({}, { if_none_match: true }))).toMatchObject(refused);
    await put({ description: '2' }, { if_match: etag });
    expect(await failureOf(put({ description: '3' }, { if_match: etag }))).toMatchObject(refused);
  });

  it('fifty times at once always ends, in one of the definitions', async () => {
    const all = await Promise.all(
      Array.from({ length: 50 }, (_, index) => put({ description: String(index) })),
    );

    const { value } = await world.agents.get(FINGERPRINT, 'a1');
    expect(all.map((published) => published.value)).toContainEqual(value);
    expect(value.definition_digest).toBe(definitionDigest(definition({ description: value.description })));
  });
});

describe('Patching an agent', () => {
  it('changes what is named, clears with null, and keeps the rest', async () => {
    await create({ model: 'm', instructions: 'i' });

    const { value } = await patch({ description: 'new', model: null });

    expect(value).toMatchObject({ description: 'new', skills: ['s1', 's2'], instructions: 'i' });
    expect(value).not.toHaveProperty('model');
    expect((await patch({ instructions: null })).value).not.toHaveProperty('instructions');
  });

  it('that changes nothing keeps revision and ETag', async () => {
    const first = await create();

    expect(await patch({ description: 'd', model: null })).toEqual(first);
  });

  it('may not leave a subagent with a skill that the agent has no more', async () => {
    const first = await create({ subagents: [{ name: 'sub', skills: ['s2'] }] });

    const failure = await failureOf(patch({ skills: ['s1'] }));

    expect(failure).toMatchObject({
      code: 'invalid_request',
      details: { errors: [{ pointer: '/subagents' }] },
    });
    expect(await world.agents.get(FINGERPRINT, 'a1')).toEqual(first);
    expect((await patch({ skills: ['s1'], subagents: [] })).value.skills).toEqual(['s1']);
  });

  it('of what is not there is not_found, with If-Match precondition_failed', async () => {
    expect(await failureOf(patch({ description: 'x' }))).toMatchObject({ code: 'not_found' });
    expect(await failureOf(patch({ description: 'x' }, { if_match: 'x' }))).toMatchObject({
      code: 'precondition_failed',
    });
  });

  it('of two fields at once loses neither', async () => {
    await create();

    await Promise.all([patch({ description: 'new' }), patch({ model: 'm' })]);

    expect((await world.agents.get(FINGERPRINT, 'a1')).value).toMatchObject({
      description: 'new',
      model: 'm',
    });
  });

  it('whose reply was lost succeeds under its If-Match', async () => {
    const { etag } = await create();
    const { value } = await forgetful().patch(FINGERPRINT, 'a1', { description: 'new' }, { if_match: etag });

    expect(value.description).toBe('new');
  });
});

describe('Deleting an agent', () => {
  it('frees the name, and the next one has another ETag', async () => {
    const first = await create();
    await world.agents.delete(FINGERPRINT, 'a1', { if_match: first.etag });

    expect(await failureOf(world.agents.get(FINGERPRINT, 'a1'))).toMatchObject({ code: 'not_found' });
    expect((await create()).etag).not.toBe(first.etag);
  });

  it('whose reply was lost succeeds under its If-Match', async () => {
    const { etag } = await create();

    await forgetful().delete(FINGERPRINT, 'a1', { if_match: etag });

    expect(await failureOf(world.agents.get(FINGERPRINT, 'a1'))).toMatchObject({ code: 'not_found' });
  });

  it('with a stale If-Match leaves it', async () => {
    const { etag } = await create();
    await patch({ description: 'new' });

    expect(await failureOf(world.agents.delete(FINGERPRINT, 'a1', { if_match: etag }))).toMatchObject({
      code: 'precondition_failed',
    });
    expect((await world.agents.get(FINGERPRINT, 'a1')).value.description).toBe('new');
  });

  it('that is not there is not_found', async () => {
    expect(await failureOf(world.agents.delete(FINGERPRINT, 'a1', {}))).toMatchObject({ code: 'not_found' });
  });
});

describe('Lists of agents', () => {
  it('page in order and refuse cursors of other lists', async () => {
    for (const name of ['c', 'a', 'b']) await create({ name });

    const first = await world.agents.list(FINGERPRINT, { limit: 2 });
    const second = await world.agents.list(FINGERPRINT, { limit: 2, cursor: first.next_cursor });

    expect([...first.items, ...second.items].map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    const foreign = Buffer.from('skills:a').toString('base64url');
    expect(await failureOf(world.agents.list(FINGERPRINT, { limit: 2, cursor: foreign }))).toMatchObject({
      code: 'invalid_request',
    });
  });
});

describe('The definition digest', () => {
  it('depends on every field and on the order of the skills', () => {
    const variants = [
      {},
      { name: 'a2' },
      { description: '' },
      { skills: ['s2', 's1'] },
      { skills: ['s1'] },
      { subagents: [{ name: 'sub' }] },
      { subagents: [{ name: 'sub', skills: [] }] },
      { sandbox_profile: 'other' },
      { model: 'm' },
      { instructions: 'm' },
    ];

    const digests = variants.map((fields) => definitionDigest(definition(fields)));

    expect(new Set(digests).size).toBe(variants.length);
  });

  it('does not depend on the order of the fields', () => {
    fc.assert(
      fc.property(
        fc.shuffledSubarray(Object.entries(definition({ model: 'm' })), { minLength: 6 }),
        (entries) => {
          const whole = { ...Object.fromEntries(entries), ...definition({ model: 'm' }) };

          expect(definitionDigest(whole)).toBe(definitionDigest(definition({ model: 'm' })));
        },
      ),
    );
  });
});
