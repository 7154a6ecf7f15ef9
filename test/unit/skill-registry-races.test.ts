/** Many writers, and writers that die or lose a reply at every point. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { objectRowSchema } from '../../shared/contracts/rows.ts';
import type { Skill } from '../../shared/contracts/skill.ts';
import { isCognitionError } from '../../shared/domain/cognition-error.ts';
import { KEYS } from '../../shared/domain/row-keys.ts';
import { TransientError } from '../../shared/domain/transient-error.ts';
import type { SkillPackageStore } from '../../shared/ports/skill-package-store.ts';
import type { TableStore } from '../../shared/ports/table-store.ts';
import type { Versioned } from '../../shared/services/commit-with.ts';
import type { SkillRegistry } from '../../shared/services/skill-registry.ts';
import { listedRows } from '../support/listed-rows.ts';
import {
  createRequest,
  FINGERPRINT,
  failureOf,
  openRegistries,
  putRequest,
  type Registries,
} from '../support/package-builders.ts';

let world: Registries;
beforeEach(async () => {
  world = await openRegistries();
});
afterEach(() => world.close());

const page = { limit: 200 };

/** What must hold whatever happened: a skill that is there can be read, with the bytes that its digest names. */
async function expectWhole(): Promise<Versioned<Skill> | undefined> {
  const fresh = world.registry();
  const found = await fresh.get(FINGERPRINT, 't1').catch((error: unknown) => {
    if (isCognitionError(error, 'not_found')) return undefined;
    throw error;
  });
  if (found === undefined) return undefined;
  const { items } = await fresh.listRevisions(FINGERPRINT, 't1', page);
  expect(items.map(({ revision }) => revision)).toContain(found.value.revision);
  for (const { revision, digest } of items) {
    const served = await fresh.getPackage(FINGERPRINT, 't1', 'canonical', revision);
    expect(`sha256:${served.sha256}`).toBe(digest);
    const object = await world.table.get(KEYS.object(FINGERPRINT, digest));
    expect(objectRowSchema.parse(object?.data).state).toBe('live');
    const { rows } = await world.table.query(KEYS.objects(FINGERPRINT, digest), {
      prefix: KEYS.REFERENCE_PREFIX,
    });
    expect(rows.some(({ sk }) => sk.endsWith(revision))).toBe(true);
  }
  return found;
}

describe('Parallel writers', () => {
  it('ten creates of one name give one skill and nine skill_exists', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) =>
        world.registry().create(FINGERPRINT, createRequest('t1', { a: String(index) })),
      ),
    );

    const failed = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(failed.map(({ reason }) => reason.code)).toEqual(Array(9).fill('skill_exists'));
    await expectWhole();
    expect((await world.skills.listRevisions(FINGERPRINT, 't1', page)).items).toHaveLength(1);
  });

  it('fifty puts all succeed, one revision each, and none is mixed', async () => {
    const published = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        world.registry().put(FINGERPRINT, 't1', putRequest('t1', { a: String(index), b: String(index) }), {}),
      ),
    );

    await expectWhole();
    expect(published.filter(({ created }) => created)).toHaveLength(1);
    expect(new Set(published.map(({ value }) => value.revision)).size).toBe(50);
    for (const { value } of published) {
      const [a, b] = await Promise.all(
        ['a', 'b'].map((path) => world.skills.getFile(FINGERPRINT, 't1', path, value.revision)),
      );
      expect(a).toEqual(b);
    }
  });

  it('fifty puts of the same bytes under fifty names share one object', async () => {
    const shared = Array.from({ length: 50 }, () =>
      world.registry().put(FINGERPRINT, 't1', putRequest('t1', { a: '1' }), {}),
    );

    const revisions = (await Promise.all(shared)).map(({ value }) => value.revision);

    expect(new Set(revisions).size).toBe(1);
    await expectWhole();
  });

  it('of one ETag: one wins, the others get precondition_failed', async () => {
    const { etag } = await world.skills.create(FINGERPRINT, createRequest('t1'));

    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) =>
        world.registry().put(FINGERPRINT, 't1', putRequest('t1', { a: String(index) }), { if_match: etag }),
      ),
    );

    const failed = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(failed.map(({ reason }) => reason.code)).toEqual(Array(9).fill('precondition_failed'));
    await expectWhole();
  });

  it('that always come first end in conflict, not in a server error', async () => {
    await world.skills.create(FINGERPRINT, createRequest('t1'));
    let enabled = true;
    const overtaken = world.registry({
      table: (table) => ({
        ...bound(table),
        transact: async (writes) => {
          if (writes.some(({ key }) => key.pk === KEYS.skills(FINGERPRINT))) {
            enabled = !enabled;
            await world.skills.patch(FINGERPRINT, 't1', { enabled }, {});
          }
          return table.transact(writes);
        },
      }),
    });

    const failure = await failureOf(overtaken.put(FINGERPRINT, 't1', putRequest('t1', { a: '1' }), {}));

    expect(failure).toMatchObject({ code: 'conflict' });
    await expectWhole();
  });
});

const bound = (table: TableStore): TableStore => ({
  get: (key) => table.get(key),
  query: (pk, options) => table.query(pk, options),
  transact: (writes) => table.transact(writes),
});

class Died extends Error {}
type Moment = 'before' | 'after';

/** From step `at` on every write fails: the process is gone. Steps are transactions and puts, in order. */
function dying(at: number, moment: Moment) {
  let step = 0;
  const guard = async <T>(work: () => Promise<T>): Promise<T> => {
    step += 1;
    if (step > at || (step === at && moment === 'before')) throw new Died();
    const result = await work();
    if (step === at) throw new Died();
    return result;
  };
  return {
    table: (table: TableStore): TableStore => ({
      ...bound(table),
      transact: (writes) => guard(() => table.transact(writes)),
    }),
    packages: (packages: SkillPackageStore): SkillPackageStore => ({
      ...packages,
      put: (...object) => guard(() => packages.put(...object)),
    }),
  };
}

/** The step happens, but the reply is lost once. */
function forgetful(at: number) {
  let step = 0;
  const guard = async <T>(work: () => Promise<T>): Promise<T> => {
    step += 1;
    const result = await work();
    if (step === at) throw new TransientError('the reply was lost');
    return result;
  };
  return {
    table: (table: TableStore): TableStore => ({
      ...bound(table),
      transact: (writes) => guard(() => table.transact(writes)),
    }),
    packages: (packages: SkillPackageStore): SkillPackageStore => ({
      ...packages,
      put: (...object) => guard(() => packages.put(...object)),
    }),
  };
}

describe('A publisher that dies', () => {
  const moments = [1, 2, 3].flatMap((step) =>
    (['before', 'after'] as const).map((moment) => [moment, step] as const),
  );

  it.each(moments)(
    '%s step %i of a create leaves a whole skill or none, and the name usable',
    async (moment, step) => {
      const work = world.registry(dying(step, moment)).create(FINGERPRINT, createRequest('t1', { a: '1' }));

      expect(await failureOf(work)).toBeInstanceOf(Died);
      const left = await expectWhole();
      expect(left !== undefined).toBe(step === 3 && moment === 'after');
      await world.registry().put(FINGERPRINT, 't1', putRequest('t1', { a: '1' }), {});
      expect(await expectWhole()).toBeDefined();
    },
  );

  it.each(moments)(
    '%s step %i of a replacement leaves the old skill or the new one',
    async (moment, step) => {
      const first = await world.skills.create(FINGERPRINT, createRequest('t1'));

      const work = world
        .registry(dying(step, moment))
        .put(FINGERPRINT, 't1', putRequest('t1', { a: '1' }), {});

      expect(await failureOf(work)).toBeInstanceOf(Died);
      const left = await expectWhole();
      expect(left?.etag === first.etag).toBe(!(step === 3 && moment === 'after'));
    },
  );

  it.each(moments)('%s step %i leaves an object that the collector can list', async (moment, step) => {
    await failureOf(world.registry(dying(step, moment)).create(FINGERPRINT, createRequest('t1')));

    const { digest = '' } = world.skills.validate(createRequest('t1'));
    const listed = (await listedRows(world.table, KEYS.objectIndex())).length;
    const isStored = await world.packages.exists(FINGERPRINT, digest);
    expect(isStored && listed === 0).toBe(false);
  });
});

describe('A lost reply', () => {
  it.each([1, 2, 3])('at step %i does not turn a create into skill_exists', async (step) => {
    const registry = world.registry(forgetful(step));

    const created = await registry.create(FINGERPRINT, createRequest('t1', { a: '1' }));

    expect(await expectWhole()).toEqual(created);
    expect((await world.skills.listRevisions(FINGERPRINT, 't1', page)).items).toHaveLength(1);
  });

  it.each([1, 2, 3])('at step %i does not turn a conditional put into precondition_failed', async (step) => {
    const { etag } = await world.skills.create(FINGERPRINT, createRequest('t1'));

    const published = await world
      .registry(forgetful(step))
      .put(FINGERPRINT, 't1', putRequest('t1', { a: '1' }), { if_match: etag });

    expect((await expectWhole())?.etag).toBe(published.etag);
    expect(published.created).toBe(false);
  });
});

describe('A lost reply to a change without a revision', () => {
  it.each<[string, (skills: SkillRegistry, etag: string) => Promise<Versioned<Skill>>]>([
    ['patch', (skills, if_match) => skills.patch(FINGERPRINT, 't1', { enabled: false }, { if_match })],
    [
      'put of equal content',
      (skills, if_match) =>
        skills.put(FINGERPRINT, 't1', { ...putRequest('t1'), enabled: false }, { if_match }),
    ],
  ])('does not turn a conditional %s into precondition_failed', async (what, change) => {
    const { etag } = await world.skills.create(FINGERPRINT, createRequest('t1'));
    const registry = world.registry(forgetful(what === 'patch' ? 1 : 2));

    const changed = await change(registry, etag);

    expect(changed.value.enabled).toBe(false);
    expect(await expectWhole()).toEqual({ value: changed.value, etag: changed.etag });
  });

  it('does not turn a deletion into not_found or precondition_failed', async () => {
    const { etag } = await world.skills.create(FINGERPRINT, createRequest('t1'));

    await world.registry(forgetful(1)).delete(FINGERPRINT, 't1', { if_match: etag });

    expect(await expectWhole()).toBeUndefined();
    expect(await failureOf(world.skills.delete(FINGERPRINT, 't1', {}))).toMatchObject({ code: 'not_found' });
  });
});

describe('A publisher that meets the collector', () => {
  const digestOf = (): string => world.skills.validate(createRequest('t1')).digest ?? '';
  const setState = async (state: 'collecting' | 'live' | 'writing', lease = 0): Promise<void> => {
    const digest = digestOf();
    const lease_until = new Date(world.clock.now() + lease).toISOString();
    await world.table.transact([
      {
        kind: 'put',
        key: KEYS.object(FINGERPRINT, digest),
        data: { digest, size_bytes: 1, state, lease_until },
      },
    ]);
  };
  const collect = async (): Promise<void> => {
    await setState('collecting');
    await world.packages.delete(FINGERPRINT, digestOf());
    await world.table.transact([
      { kind: 'delete', key: KEYS.object(FINGERPRINT, digestOf()) },
      { kind: 'delete', key: KEYS.objectIndexEntry(FINGERPRINT, digestOf()) },
    ]);
  };

  it('waits until it is done, then publishes', async () => {
    await setState('collecting');
    let reads = 0;
    const registry = world.registry({
      table: (table) => ({
        ...bound(table),
        get: async (key) => {
          reads += 1;
          if (reads === 6) await collect();
          return table.get(key);
        },
      }),
    });

    await registry.create(FINGERPRINT, createRequest('t1'));

    expect(await expectWhole()).toBeDefined();
  });

  it('that never ends gets conflict', async () => {
    await setState('collecting');

    expect(await failureOf(world.skills.create(FINGERPRINT, createRequest('t1')))).toMatchObject({
      code: 'conflict',
    });
  });

  it.each([1, 2])('that strikes after its step %i puts the bytes again', async (at) => {
    let step = 0;
    const strike = async <T>(work: () => Promise<T>): Promise<T> => {
      step += 1;
      if (step === at + 1) await collect();
      return work();
    };
    const registry = world.registry({
      table: (table) => ({ ...bound(table), transact: (writes) => strike(() => table.transact(writes)) }),
      packages: (packages) => ({ ...packages, put: (...object) => strike(() => packages.put(...object)) }),
    });

    await registry.create(FINGERPRINT, createRequest('t1'));

    expect(step).toBeGreaterThan(3);
    expect(await expectWhole()).toBeDefined();
  });

  it('that strikes after it has put onto a live object puts the bytes again', async () => {
    await world.skills.create(FINGERPRINT, createRequest('t1'));
    await world.skills.delete(FINGERPRINT, 't1', {});
    let puts = 0;
    const registry = world.registry({
      packages: (packages) => ({
        ...packages,
        put: async (...object) => {
          puts += 1;
          await packages.put(...object);
          if (puts === 1) await collect();
        },
      }),
    });

    await registry.create(FINGERPRINT, createRequest('t1'));

    expect(puts).toBe(2);
    expect(await expectWhole()).toBeDefined();
  });

  it('joins another publisher of the same bytes, and takes over where that one is gone', async () => {
    await setState('writing', 10 * 60_000);
    await world.skills.create(FINGERPRINT, createRequest('t1'));
    expect(await expectWhole()).toBeDefined();

    await world.skills.delete(FINGERPRINT, 't1', {});
    await setState('writing', -1);
    await world.skills.create(FINGERPRINT, createRequest('t1'));
    expect(await expectWhole()).toBeDefined();
  });
});
