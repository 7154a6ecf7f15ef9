import { type MaintenanceLeaseRow, maintenanceLeaseRowSchema } from '../contracts/rows.ts';
import { KEYS } from '../domain/row-keys.ts';
import { TransientError } from '../domain/transient-error.ts';
import type { Clock } from '../ports/clock.ts';
import { type Condition, ConditionFailed, type TableStore } from '../ports/table-store.ts';

/** For work that only one process at a time does. */
export interface MaintenanceLeases {
  /**
   * @param seconds longer than the work can take: a process that dies gives its turn back when they are over.
   * @returns false when another has the turn, and nothing was begun.
   */
  during(name: string, seconds: number, work: () => Promise<void>): Promise<boolean>;
}

export interface MaintenanceLeasesDeps {
  readonly table: TableStore;
  readonly clock: Clock;
}

export function createMaintenanceLeases(deps: MaintenanceLeasesDeps): MaintenanceLeases {
  return {
    async during(name, seconds, work) {
      const version = await take(deps, name, seconds);
      if (version === undefined) return false;
      try {
        await work();
      } finally {
        await giveBack(deps, name, version);
      }
      return true;
    },
  };
}

/** @returns the version of our lease, undefined when it is another's. */
async function take(
  { table, clock }: MaintenanceLeasesDeps,
  name: string,
  seconds: number,
): Promise<string | undefined> {
  const key = KEYS.maintenanceLease(name);
  const row = await table.get(key);
  if (row !== undefined) {
    const { lease_until } = maintenanceLeaseRowSchema.parse(row.data);
    if (clock.now() < Date.parse(lease_until)) return undefined;
  }
  const until = clock.now() + seconds * 1_000;
  const data: MaintenanceLeaseRow = { lease_until: new Date(until).toISOString() };
  const condition: Condition = row === undefined ? { absent: true } : { version: row.version };
  try {
    const [version] = await table.transact([
      { kind: 'put', key, data, expires_at: Math.ceil(until / 1_000), if: condition },
    ]);
    return version;
  } catch (error) {
    if (error instanceof ConditionFailed) return undefined;
    throw error;
  }
}

/** One that cannot be given back now comes back by its time. */
async function giveBack({ table }: MaintenanceLeasesDeps, name: string, version: string): Promise<void> {
  try {
    await table.transact([{ kind: 'delete', key: KEYS.maintenanceLease(name), if: { version } }]);
  } catch (error) {
    if (!(error instanceof ConditionFailed || error instanceof TransientError)) throw error;
  }
}
