/** Packages and registries for tests, through the real schemas and the standalone adapters. */
import { createObjectPackageStore } from '../../shared/adapters/object-package-store.ts';
import { createUlidIds } from '../../shared/adapters/ulid-ids.ts';
import { createSkillSchema, putSkillSchema } from '../../shared/contracts/skill.ts';
import type { SkillPackageStore } from '../../shared/ports/skill-package-store.ts';
import type { TableStore } from '../../shared/ports/table-store.ts';
import { createAgentRegistry } from '../../shared/services/agent-registry.ts';
import { createPackageReader } from '../../shared/services/package-reader.ts';
import { createSkillRegistry, type SkillRegistry } from '../../shared/services/skill-registry.ts';
import { openLocalObjects, openLocalTable } from './local-stores.ts';
import { RecordingMetrics } from './recording-metrics.ts';
import { skillFiles } from './skill-files.ts';

export const createRequest = (name: string, files: Record<string, string> = {}) =>
  createSkillSchema.parse({ name, files: skillFiles(name, files) });

export const putRequest = (name: string, files: Record<string, string> = {}, enabled?: boolean) =>
  putSkillSchema.parse({ files: skillFiles(name, files), ...(enabled === undefined ? {} : { enabled }) });

export const FINGERPRINT = 'a'.repeat(52);
export const OTHER_FINGERPRINT = 'b'.repeat(52);

const silent = { info: () => {}, warn: () => {}, error: () => {} };

export interface Wrapping {
  readonly table?: (table: TableStore) => TableStore;
  readonly packages?: (packages: SkillPackageStore) => SkillPackageStore;
}

/** Registries over a table and a package folder of their own. */
export async function openRegistries() {
  const { table, clock, close: closeTable } = await openLocalTable();
  const { objects, close: closeObjects } = await openLocalObjects();
  const packages = createObjectPackageStore({ objects, backend: 'filesystem' });
  const ids = createUlidIds();
  const random = () => 0.5;
  const metrics = new RecordingMetrics();

  /** Another process over the same stores, which `wrap` may make fail. */
  const registry = (wrap: Wrapping = {}): SkillRegistry => {
    const wrapped = wrap.packages?.(packages) ?? packages;
    return createSkillRegistry({
      table: wrap.table?.(table) ?? table,
      packages: wrapped,
      reader: createPackageReader({ packages: wrapped, metrics }),
      clock,
      ids,
      logger: silent,
      metrics,
      random,
    });
  };
  return {
    table,
    objects,
    packages,
    clock,
    metrics,
    registry,
    skills: registry(),
    agents: createAgentRegistry({ table, clock, ids, random }),
    close: async () => {
      await closeTable();
      await closeObjects();
    },
  };
}

export type Registries = Awaited<ReturnType<typeof openRegistries>>;

/** The error of work that must fail. */
export async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => {
      throw new Error('this should have failed');
    },
    (error: unknown) => error,
  );
}
