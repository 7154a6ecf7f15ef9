import { KEYS } from '../domain/row-keys.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { SkillPackageStore } from '../ports/skill-package-store.ts';
import type { TableStore } from '../ports/table-store.ts';
import { collectObject } from './collector/collect-objects.ts';
import { collectDeletedSkill } from './collector/deleted-skills.ts';
import { visitLists } from './collector/visit-lists.ts';
import type { ObjectRecords } from './records/object-records.ts';

export interface PackageCollectorDeps {
  readonly table: TableStore;
  readonly objects: ObjectRecords;
  readonly packages: SkillPackageStore;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface CollectOptions {
  /** Milliseconds since the epoch, after which no further page is begun. Default: none. */
  readonly until?: number;
  /** The `next` of a report that was cut short. */
  readonly after?: string;
}

export interface CollectorReport {
  readonly revisions_removed: number;
  readonly packages_removed: number;
  /** What could not be handled, and is logged; the next collection tries again. */
  readonly failures: number;
  /** Where to go on, when time was up. */
  readonly next?: string;
}

/** Counts while it goes on. */
export type Tally = { -readonly [Count in keyof Omit<CollectorReport, 'next'>]: number };

export interface PackageCollector {
  /**
   * One pass: revisions of skills deleted long enough ago that no run holds, then packages that neither a revision
   * nor a run refers to. May run at the same time as everything else, another collector too.
   */
  collect(options?: CollectOptions): Promise<CollectorReport>;
}

export function createPackageCollector(deps: PackageCollectorDeps): PackageCollector {
  return {
    async collect(options = {}) {
      const tally: Tally = { revisions_removed: 0, packages_removed: 0, failures: 0 };
      const lists = [
        ...KEYS.deletedSkills().map((pk) => ({ pk, visit: collectDeletedSkill })),
        ...KEYS.objectIndex().map((pk) => ({ pk, visit: collectObject })),
      ];
      const next = await visitLists(deps, lists, options, tally);
      return next === undefined ? tally : { ...tally, next };
    },
  };
}
