import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LIMITS } from '../../shared/contracts/limits.ts';
import { OBJECT_KEYS } from '../../shared/domain/row-keys.ts';
import { sha256Hex } from '../../shared/domain/sha256.ts';
import { createExpiredObjectCollector } from '../../shared/services/expired-object-collector.ts';
import { type LocalObjects, openLocalObjects } from '../support/local-stores.ts';

const DAY_MS = 86_400_000;

describe('the collector of expired objects', () => {
  let local: LocalObjects;
  beforeEach(async () => {
    local = await openLocalObjects();
  });
  afterEach(() => local.close());
  const put = (key: string) => local.objects.put({ key, bytes: Buffer.from(key), sha256: sha256Hex(key) });

  it('deletes artifacts and inputs a day after their retention, and never a package', async () => {
    const artifact = OBJECT_KEYS.runArtifact('f', 'run', 'a');
    const input = OBJECT_KEYS.input('f', 'i');
    const pack = OBJECT_KEYS.package('f', 'sha256:0');
    for (const key of [artifact, input, pack]) await put(key);
    const collector = createExpiredObjectCollector(local);
    const keysAfter = async (seconds: number): Promise<string[]> => {
      const passed = local.clock.now() - Date.parse('2026-11-02T10:00:00Z');
      local.clock.advance(seconds * 1_000 + DAY_MS - passed);
      await collector.collect();
      return (await local.objects.list('')).objects.map(({ key }) => key);
    };
    expect(await keysAfter(LIMITS.inputRetentionSeconds)).toStrictEqual([artifact, input, pack]);
    expect(await keysAfter(LIMITS.inputRetentionSeconds + 1)).toStrictEqual([artifact, pack]);
    expect(await keysAfter(LIMITS.runRetentionSeconds)).toStrictEqual([artifact, pack]);
    expect(await keysAfter(LIMITS.runRetentionSeconds + 1)).toStrictEqual([pack]);
    expect(await keysAfter(10 * LIMITS.runRetentionSeconds)).toStrictEqual([pack]);
  });

  it('leaves what is young among what is old, and counts what it deleted', async () => {
    await put(OBJECT_KEYS.input('f', 'old1'));
    await put(OBJECT_KEYS.input('f', 'old2'));
    local.clock.advance(9 * DAY_MS);
    await put(OBJECT_KEYS.input('f', 'young'));
    expect(await createExpiredObjectCollector(local).collect()).toBe(2);
    const { objects } = await local.objects.list('inputs/');
    expect(objects.map(({ key }) => key)).toStrictEqual(['inputs/f/young']);
  });
});
