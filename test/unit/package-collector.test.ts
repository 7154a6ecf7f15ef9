import { beforeEach, describe, expect, it } from 'vitest';
import { LIMITS } from '../../shared/contracts/limits.ts';
import { KEYS } from '../../shared/domain/row-keys.ts';
import type { SkillPackageStore } from '../../shared/ports/skill-package-store.ts';
import {
  collectorOf,
  createWorld,
  FINGERPRINT,
  HOUR_MS,
  hasBytes,
  objectState,
  pin,
  publish,
  references,
  registryOf,
  type World,
} from '../support/collector-world.ts';
import { listedRows } from '../support/listed-rows.ts';

const RUN = '01JD0000000000000000000001';
const seconds = (world: World): number => Math.floor(world.clock.now() / 1_000);

describe('the package collector', () => {
  let world: World;
  beforeEach(() => {
    world = createWorld();
  });
  const collect = () => collectorOf(world, world.errors).collect();
  const remove = (name: string) => registryOf(world).delete(FINGERPRINT, name, {});

  it('leaves everything that a live skill needs, old revisions too, however often it comes', async () => {
    const first = await publish(world, 'kept', { 'a.txt': '1' });
    const second = await publish(world, 'kept', { 'a.txt': '2' });
    for (let day = 0; day < 100; day += 1) {
      world.clock.advance(24 * HOUR_MS);
      expect(await collect()).toStrictEqual({ revisions_removed: 0, packages_removed: 0, failures: 0 });
    }
    for (const { digest, revision } of [first, second]) {
      expect(await hasBytes(world, digest)).toBe(true);
      expect(await objectState(world, digest)).toBe('live');
      expect(await registryOf(world).getRevision(FINGERPRINT, 'kept', revision)).toMatchObject({ digest });
    }
  });

  it('removes a deleted skill whole, bytes and rows, a day after it was deleted and not before', async () => {
    const { digest, skill_id } = await publish(world, 'gone');
    world.clock.advance(90 * 24 * HOUR_MS);
    await remove('gone');
    world.clock.advance(LIMITS.unreferencedPackageSeconds * 1_000 - 1_000);
    expect(await collect()).toMatchObject({ revisions_removed: 0, packages_removed: 0 });
    expect(await hasBytes(world, digest)).toBe(true);
    world.clock.advance(2_000);
    expect(await collect()).toStrictEqual({ revisions_removed: 1, packages_removed: 1, failures: 0 });
    expect(await hasBytes(world, digest)).toBe(false);
    const partitions = [
      KEYS.objects(FINGERPRINT, digest),
      KEYS.revisions(FINGERPRINT, skill_id),
      ...KEYS.objectIndex(),
      ...KEYS.deletedSkills(),
    ];
    expect(await listedRows(world.table, partitions)).toStrictEqual([]);
  });

  it('keeps a package that another skill of the scope has too', async () => {
    const files = new Map([['SKILL.md', '---\nname: one\ndescription: d\n---\n']]);
    const { digest } = await publish(world, 'one', Object.fromEntries(files));
    await remove('one');
    await publish(world, 'one', Object.fromEntries(files));
    world.clock.advance(48 * HOUR_MS);
    expect(await collect()).toMatchObject({ revisions_removed: 1, packages_removed: 0 });
    expect(await hasBytes(world, digest)).toBe(true);
    expect(await references(world, digest)).toHaveLength(1);
  });

  it('keeps what a run has pinned until the reference expires, then removes it', async () => {
    const pinned = await publish(world, 'pinned');
    await pin(world, pinned, RUN, seconds(world) + LIMITS.runRetentionSeconds);
    await remove('pinned');
    world.clock.advance(29 * 24 * HOUR_MS);
    expect(await collect()).toMatchObject({ revisions_removed: 0, packages_removed: 0 });
    expect(await hasBytes(world, pinned.digest)).toBe(true);
    world.clock.advance(2 * 24 * HOUR_MS);
    expect(await collect()).toMatchObject({ revisions_removed: 1, packages_removed: 1 });
    expect(await hasBytes(world, pinned.digest)).toBe(false);
  });

  it('removes the revisions that no run holds beside one that a run does', async () => {
    const old = await publish(world, 'mixed', { 'a.txt': '1' });
    const held = await publish(world, 'mixed', { 'a.txt': '2' });
    await pin(world, held, RUN, seconds(world) + LIMITS.runRetentionSeconds);
    await remove('mixed');
    world.clock.advance(25 * HOUR_MS);
    expect(await collect()).toMatchObject({ revisions_removed: 1, packages_removed: 1 });
    expect([await hasBytes(world, old.digest), await hasBytes(world, held.digest)]).toStrictEqual([
      false,
      true,
    ]);
    expect(await listedRows(world.table, KEYS.deletedSkills())).toHaveLength(1);
  });

  it('removes what a publisher that died has left, a day after its lease', async () => {
    const dying: SkillPackageStore = {
      ...world.packages,
      put: async (...object) => {
        await world.packages.put(...object);
        throw new Error('killed');
      },
    };
    await expect(publish({ ...world, packages: dying }, 'half')).rejects.toThrow('killed');
    const [entry] = await listedRows(world.table, KEYS.objectIndex());
    const digest = entry?.sk.split('#')[1] ?? '';
    expect(await objectState(world, digest)).toBe('writing');
    world.clock.advance(24 * HOUR_MS);
    expect(await collect()).toMatchObject({ packages_removed: 0 });
    world.clock.advance(HOUR_MS);
    expect(await collect()).toMatchObject({ packages_removed: 1, failures: 0 });
    expect(await hasBytes(world, digest)).toBe(false);
  });

  it('goes on past a row that it cannot read and past a store that fails, and says so', async () => {
    const broken = await publish(world, 'broken');
    const fine = await publish(world, 'fine');
    await remove('broken');
    await remove('fine');
    await world.table.transact([
      { kind: 'put', key: { pk: KEYS.objectIndex()[0] ?? '', sk: 'a#garbage' }, data: { what: 1 } },
    ]);
    world.clock.advance(25 * HOUR_MS);
    const failing: SkillPackageStore = {
      ...world.packages,
      delete: async (fingerprint, digest) => {
        if (digest === broken.digest) throw new Error('the disk is read-only');
        await world.packages.delete(fingerprint, digest);
      },
    };
    const report = await collectorOf({ ...world, packages: failing }, world.errors).collect();
    expect(report).toMatchObject({ revisions_removed: 2, packages_removed: 1, failures: 2 });
    expect(world.errors).toHaveLength(2);
    expect(await hasBytes(world, fine.digest)).toBe(false);
  });

  it('finishes later, once its lease is over, what a store that failed has left condemned', async () => {
    const { digest } = await publish(world, 'late');
    await remove('late');
    world.clock.advance(25 * HOUR_MS);
    const failing: SkillPackageStore = {
      ...world.packages,
      delete: async () => {
        throw new Error('killed');
      },
    };
    await collectorOf({ ...world, packages: failing }, world.errors).collect();
    expect(await collect()).toMatchObject({ packages_removed: 0, failures: 0 });
    world.clock.advance(HOUR_MS);
    expect(await collect()).toMatchObject({ packages_removed: 1, failures: 0 });
    expect(await objectState(world, digest)).toBeUndefined();
  });

  describe('whose time is short', () => {
    const COUNT = 100;
    beforeEach(async () => {
      for (let index = 0; index < COUNT; index += 1) await publish(world, `skill-${index}`);
      for (let index = 0; index < COUNT; index += 1) await remove(`skill-${index}`);
      world.clock.advance(25 * HOUR_MS);
    });
    /** Every transaction takes a millisecond. */
    const slow = (): World => ({
      ...world,
      table: {
        get: (key) => world.table.get(key),
        query: (pk, options) =>
          world.table.query(pk, { ...options, limit: Math.min(options?.limit ?? 3, 3) }),
        transact: async (writes) => {
          world.clock.advance(1);
          return await world.table.transact(writes);
        },
      },
    });

    it('stops wherever it is, and goes on there, so that passes together do what one would', async () => {
      const total = { revisions_removed: 0, packages_removed: 0, failures: 0 };
      const places: string[] = [];
      let after: string | undefined;
      do {
        const collector = collectorOf(slow(), world.errors);
        const until = world.clock.now() + 10;
        const report = await collector.collect({ until, ...(after !== undefined && { after }) });
        total.revisions_removed += report.revisions_removed;
        total.packages_removed += report.packages_removed;
        total.failures += report.failures;
        after = report.next;
        places.push(after ?? 'the end');
      } while (after !== undefined);
      expect(total).toStrictEqual({ revisions_removed: COUNT, packages_removed: COUNT, failures: 0 });
      expect(new Set(places).size).toBe(places.length);
      expect(places.length).toBeGreaterThan(20);
      expect(world.errors).toStrictEqual([]);
    });

    it('begins nothing when there is no time at all, and says where to begin', async () => {
      const collector = collectorOf(world, world.errors);
      const report = await collector.collect({ until: world.clock.now() });
      expect(report).toMatchObject({ revisions_removed: 0, packages_removed: 0 });
      const rest = await collector.collect({ after: report.next ?? 'nowhere' });
      expect(rest).toStrictEqual({ revisions_removed: COUNT, packages_removed: COUNT, failures: 0 });
    });

    it.each(['', 'a-list-of-old k', 'objects#99 k', 'k'])(
      'begins anew after %j, a place that is not',
      async (after) => {
        const report = await collectorOf(world, world.errors).collect({ after });
        expect(report).toStrictEqual({ revisions_removed: COUNT, packages_removed: COUNT, failures: 0 });
      },
    );
  });
});
