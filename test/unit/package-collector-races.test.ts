import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../shared/contracts/limits.ts';
import { isCognitionError } from '../../shared/domain/cognition-error.ts';
import { KEYS } from '../../shared/domain/row-keys.ts';
import type { TableStore } from '../../shared/ports/table-store.ts';
import type { ResolvedPackage } from '../../shared/services/run-skill-resolver.ts';
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
import { gatedPackages, gatedTable } from '../support/gated-stores.ts';
import { everyInterleaving, type Process, type Step, someInterleaving } from '../support/interleavings.ts';
import { listedRows } from '../support/listed-rows.ts';

const RUN = '01JD0000000000000000000001';
const NAME = 'raced';

interface Scene {
  readonly world: World;
  /** What the run was about to pin, resolved while the skill was there. */
  readonly pinned: ResolvedPackage;
  pinOutcome?: 'pinned' | 'refused';
  published?: boolean;
}

/** Each order is quick, but there are thousands. */
const SLOW = 180_000;
/** The tests also state which outcomes their samples came to. */
const SEED = 20_261_130;

/** A skill deleted more than a day ago, whose package is due. */
async function dueScene(): Promise<Scene> {
  const world = createWorld();
  const pinned = await publish(world, NAME);
  await registryOf(world).delete(FINGERPRINT, NAME, {});
  world.clock.advance(25 * HOUR_MS);
  return { world, pinned };
}

/** The same, with the revisions gone, as a pass that was cut short leaves it. */
async function dueObjectScene(): Promise<Scene> {
  const scene = await dueScene();
  const { table } = scene.world;
  for (const pk of [...KEYS.deletedSkills(), KEYS.revisions(FINGERPRINT, scene.pinned.skill_id)]) {
    const { rows } = await table.query(pk);
    if (rows.length > 0) await table.transact(rows.map(({ sk }) => ({ kind: 'delete', key: { pk, sk } })));
  }
  const { digest, skill_id, revision } = scene.pinned;
  await table.transact([
    { kind: 'delete', key: KEYS.revisionReference(FINGERPRINT, digest, skill_id, revision) },
  ]);
  return scene;
}

const gated = (world: World, step: Step, pause: () => Promise<void> = async () => undefined) => ({
  table: gatedTable(world.table, step),
  packages: gatedPackages(world.packages, step),
  clock: { now: () => world.clock.now(), sleep: pause },
});

/** Reads of lists that can hold nothing of the scene are no steps: they find nothing in every order. */
function collectingGate({ world, pinned }: Scene, step: Step): ReturnType<typeof gated> {
  const own = [
    KEYS.deletedSkill(FINGERPRINT, pinned.skill_id).pk,
    KEYS.objectIndexEntry(FINGERPRINT, pinned.digest).pk,
  ];
  const others = [...KEYS.deletedSkills(), ...KEYS.objectIndex()].filter((pk) => !own.includes(pk));
  const stores = gated(world, step);
  const query: TableStore['query'] = (pk, options) =>
    others.includes(pk) ? world.table.query(pk, options) : stores.table.query(pk, options);
  return { ...stores, table: { ...stores.table, query } };
}

const collecting =
  (scene: Scene): Process =>
  async (step) => {
    await collectorOf(collectingGate(scene, step), scene.world.errors).collect();
  };

const pinning =
  (scene: Scene): Process =>
  async (step) => {
    const expiry = Math.floor(scene.world.clock.now() / 1_000) + LIMITS.runRetentionSeconds;
    try {
      await pin(gated(scene.world, step), scene.pinned, RUN, expiry);
      scene.pinOutcome = 'pinned';
    } catch (error) {
      if (!isCognitionError(error, 'package_unavailable')) throw error;
      scene.pinOutcome = 'refused';
    }
  };

/** Gives up with `conflict` where a dead collector's lease does not end. */
const publishing =
  (scene: Scene): Process =>
  async (step, pause) => {
    try {
      await publish(gated(scene.world, step, pause), NAME);
      scene.published = true;
    } catch (error) {
      if (!isCognitionError(error, 'conflict')) throw error;
      scene.published = false;
    }
  };

/** What must hold when all have come to their end, and after a later collection, which heals what a dead one left. */
async function expectNothingLost({ world, pinned, pinOutcome, published }: Scene): Promise<void> {
  const held = await references(world, pinned.digest);
  expect(held.includes(`ref#run#${RUN}`)).toBe(pinOutcome === 'pinned');
  if (published) expect(held.some((key) => key.startsWith('ref#revision#'))).toBe(true);
  const needed = held.length > 0;
  if (needed) expect(await hasBytes(world, pinned.digest)).toBe(true);
  world.clock.advance(25 * HOUR_MS);
  await collectorOf(world, world.errors).collect();
  expect(await hasBytes(world, pinned.digest)).toBe(needed);
  expect(await objectState(world, pinned.digest)).toBe(needed ? 'live' : undefined);
  expect(world.errors).toStrictEqual([]);
}

class Killed extends Error {}
const noWait = async (): Promise<void> => undefined;

const dyingAfter =
  (scene: Scene, steps: number): Process =>
  async (step) => {
    let left = steps;
    const last: Step = async (work) => {
      if (left <= 0) throw new Killed();
      left -= 1;
      return await step(work);
    };
    await collectorOf(collectingGate(scene, last))
      .collect()
      .catch(() => undefined);
  };

/** A collector that dies after some steps, and time enough for any lease to end. */
async function dieCollecting(scene: Scene, steps: number): Promise<void> {
  await someInterleaving([dyingAfter(scene, steps)], []);
  scene.world.clock.advance(HOUR_MS);
}

describe('no order of steps loses a package that is needed', { timeout: SLOW }, () => {
  it('between a pin and the collector', async () => {
    const outcomes = new Set<string | undefined>();
    const orders = await everyInterleaving(async () => {
      const scene = await dueScene();
      return {
        processes: [pinning(scene), collecting(scene)],
        check: async () => {
          outcomes.add(scene.pinOutcome);
          await expectNothingLost(scene);
        },
      };
    });
    expect(orders).toBeGreaterThan(500);
    expect(outcomes).toStrictEqual(new Set(['pinned', 'refused']));
  });

  it('between a publisher of the same content and the collector', async () => {
    const orders = await everyInterleaving(async () => {
      const scene = await dueObjectScene();
      return { processes: [publishing(scene), collecting(scene)], check: () => expectNothingLost(scene) };
    });
    expect(orders).toBeGreaterThan(500);
  });

  it('after the death of a collector at any step, with a pin, a publisher and two more collectors', async () => {
    const crashes = fc.integer({ min: 0, max: 14 });
    const choices = fc.array(fc.nat(3), { minLength: 60, maxLength: 60 });
    const outcomes = new Set<string>();
    await fc.assert(
      fc.asyncProperty(crashes, fc.boolean(), choices, async (steps, withPin, order) => {
        const scene = await dueScene();
        await dieCollecting(scene, steps);
        const others = withPin ? [pinning(scene), publishing(scene)] : [publishing(scene)];
        await someInterleaving([...others, collecting(scene), collecting(scene)], order);
        outcomes.add(`${scene.pinOutcome}`);
        expect(scene.published).toBe(true);
        await expectNothingLost(scene);
      }),
      { numRuns: 1_000, seed: SEED },
    );
    expect(outcomes).toStrictEqual(new Set(['pinned', 'refused', 'undefined']));
  });

  it('while a collector dies at any step beside a pin, a publisher and a second collector', async () => {
    const crashes = fc.integer({ min: 8, max: 14 });
    const choices = fc.array(fc.nat(3), { minLength: 60, maxLength: 60 });
    const outcomes = new Set<boolean | undefined>();
    await fc.assert(
      fc.asyncProperty(crashes, choices, async (steps, order) => {
        const scene = await dueScene();
        const processes = [dyingAfter(scene, steps), pinning(scene), publishing(scene), collecting(scene)];
        await someInterleaving(processes, order);
        outcomes.add(scene.published);
        await expectNothingLost(scene);
      }),
      { numRuns: 1_500, seed: SEED },
    );
    expect(outcomes).toStrictEqual(new Set([true, false]));
  });

  it('after the death of a collector at any step, leaving no row behind where nothing needs the package', async () => {
    for (let steps = 0; steps <= 14; steps += 1) {
      const scene = await dueScene();
      await dieCollecting(scene, steps);
      await collectorOf(scene.world, scene.world.errors).collect();
      expect(await hasBytes(scene.world, scene.pinned.digest)).toBe(false);
      expect(await listedRows(scene.world.table, KEYS.objectIndex())).toStrictEqual([]);
      await expectNothingLost(scene);
    }
  });

  it('when a publisher has put its bytes just before a collector removes them and dies', async () => {
    const { world, pinned } = await dueScene();
    const run = KEYS.runReference(FINGERPRINT, pinned.digest, RUN);
    const removeAndDie = {
      ...world.packages,
      delete: async (...object: [string, string]) => {
        await world.packages.delete(...object);
        throw new Killed();
      },
    };
    let puts = 0;
    const publisher = {
      ...world.packages,
      put: async (...object: [string, string, Uint8Array]) => {
        await world.packages.put(...object);
        puts += 1;
        if (puts > 1) return;
        await collectorOf({ ...world, packages: removeAndDie }).collect();
        // A pin that will fail is what the next collector sees; it must not take the package for one in use.
        const reference = { skill_id: pinned.skill_id, revision: pinned.revision };
        await world.table.transact([{ kind: 'put', key: run, data: reference }]);
        await collectorOf(world, world.errors).collect();
        await world.table.transact([{ kind: 'delete', key: run }]);
      },
    };
    const later = async (): Promise<void> => {
      world.clock.advance(HOUR_MS);
      await collectorOf(world, world.errors).collect();
    };
    await publish({ ...world, packages: publisher, clock: { now: world.clock.now, sleep: later } }, NAME);
    await expectNothingLost({ world, pinned, published: true });
    expect(puts).toBe(2);
  });

  it('when a collector that was slow to delete meets another and a publisher', async () => {
    const { world, pinned } = await dueScene();
    const slow = {
      ...world.packages,
      delete: async (...object: [string, string]) => {
        await collectorOf(world, world.errors).collect();
        await expect(
          publish({ ...world, clock: { ...world.clock, sleep: noWait } }, NAME),
        ).rejects.toMatchObject({
          code: 'conflict',
        });
        await world.packages.delete(...object);
      },
    };
    const report = await collectorOf({ ...world, packages: slow }, world.errors).collect();
    expect(report).toMatchObject({ packages_removed: 1, failures: 0 });
    await publish(world, NAME);
    await expectNothingLost({ world, pinned, published: true });
  });

  it('when a collector comes back after its lease, while its package has been published anew', async () => {
    const { world, pinned } = await dueScene();
    const held = {
      ...world.packages,
      delete: async (...object: [string, string]) => {
        await world.packages.delete(...object);
        world.clock.advance(HOUR_MS);
        await collectorOf(world, world.errors).collect();
        await publish(world, NAME);
      },
    };
    const report = await collectorOf({ ...world, packages: held }, world.errors).collect();
    expect(report).toMatchObject({ packages_removed: 0, failures: 0 });
    await expectNothingLost({ world, pinned, published: true });
  });
});
