/** A published skill and everything that may happen to its package, over stores in memory. */
import { noMetrics } from '../../shared/adapters/no-metrics.ts';
import { createUlidIds } from '../../shared/adapters/ulid-ids.ts';
import type { Manifest } from '../../shared/contracts/manifest.ts';
import { KEYS } from '../../shared/domain/row-keys.ts';
import { scopeFingerprint } from '../../shared/domain/scope.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import type { Logger } from '../../shared/ports/logger.ts';
import type { SkillPackageStore } from '../../shared/ports/skill-package-store.ts';
import type { TableStore } from '../../shared/ports/table-store.ts';
import { createPackageCollector, type PackageCollector } from '../../shared/services/package-collector.ts';
import { createPackageReader } from '../../shared/services/package-reader.ts';
import { createObjectRecords } from '../../shared/services/records/object-records.ts';
import { createSkillRecords } from '../../shared/services/records/skill-records.ts';
import {
  createRunSkillResolver,
  type ResolvedPackage,
  type RunSkillResolverDeps,
} from '../../shared/services/run-skill-resolver.ts';
import { createSkillRegistry, type SkillRegistry } from '../../shared/services/skill-registry.ts';
import { memoryPackages } from './gated-stores.ts';
import { createTestClock, type TestClock } from './local-stores.ts';
import { MemoryTable } from './memory-table.ts';
import { skillMd } from './skill-files.ts';

export const FINGERPRINT = scopeFingerprint({ tenant: 'acme' });
export const HOUR_MS = 3_600_000;

interface Stores {
  readonly table: TableStore;
  readonly packages: SkillPackageStore;
  readonly clock: Clock;
}

export interface World extends Stores {
  readonly clock: TestClock;
  readonly errors: string[];
}

export function createWorld(): World {
  return { table: new MemoryTable(), packages: memoryPackages(), clock: createTestClock(), errors: [] };
}

const loggerInto = (errors: string[]): Logger => ({
  info: () => undefined,
  warn: () => undefined,
  error: (message, fields) => errors.push(`${message} ${JSON.stringify(fields)}`),
});

export function collectorOf(stores: Stores, errors: string[] = []): PackageCollector {
  const objects = createObjectRecords(stores.table);
  return createPackageCollector({ ...stores, objects, logger: loggerInto(errors) });
}

export function registryOf(stores: Stores): SkillRegistry {
  const reader = createPackageReader({ ...stores, metrics: noMetrics });
  return createSkillRegistry({
    ...stores,
    reader,
    ids: createUlidIds(),
    logger: loggerInto([]),
    metrics: noMetrics,
    random: () => 0,
  });
}

/** What a run would pin of the skill, were it started now. */
export async function publish(
  stores: Stores,
  name: string,
  files: Record<string, string> = {},
): Promise<ResolvedPackage> {
  const map = new Map(Object.entries({ 'SKILL.md': skillMd(name), ...files }));
  await registryOf(stores).put(FINGERPRINT, name, { files: map }, {});
  const stored = await createSkillRecords(stores.table).get(FINGERPRINT, name);
  if (stored === undefined) throw new Error('the skill is not there');
  const { revision, digest, size_bytes, skill_id } = stored.row;
  return { name, revision, digest, size_bytes, skill_id };
}

/** The steps of PinManifest that concern packages. */
export async function pin(
  stores: Stores,
  pinned: ResolvedPackage,
  runId: string,
  expiresAt: number,
): Promise<void> {
  const { table } = stores;
  const resolver = createRunSkillResolver({
    table,
    skills: createSkillRecords(table),
    objects: createObjectRecords(table),
  } as unknown as RunSkillResolverDeps);
  const run = { fingerprint: FINGERPRINT, run_id: runId };
  await table.transact(resolver.references(run, [pinned], expiresAt));
  await resolver.verifyPinned(run, { packages: [pinned] } as unknown as Manifest);
}

export async function objectState(world: World, digest: string): Promise<string | undefined> {
  return (await createObjectRecords(world.table).get(FINGERPRINT, digest))?.row.state;
}

export async function hasBytes(world: World, digest: string): Promise<boolean> {
  return (await world.packages.fetch(FINGERPRINT, digest)) !== undefined;
}

export async function references(world: World, digest: string): Promise<string[]> {
  const { rows } = await world.table.query(KEYS.objects(FINGERPRINT, digest), {
    prefix: KEYS.REFERENCE_PREFIX,
  });
  return rows.map(({ sk }) => sk);
}
