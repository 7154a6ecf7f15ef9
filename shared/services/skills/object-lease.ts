/**
 * How the bytes of a package come to be stored without a moment in which the collector could take them from
 * under a revision. The object row is leased, the bytes are put, and the transaction that writes the revision
 * also proves that the row is still the one that was seen, or makes it live.
 */
import type { ObjectRow } from '../../contracts/rows.ts';
import type { Clock } from '../../ports/clock.ts';
import type { SkillPackageStore } from '../../ports/skill-package-store.ts';
import type { TableStore, Write } from '../../ports/table-store.ts';
import type { ObjectRecords, StoredObject } from '../records/object-records.ts';
import { LostRace } from '../retry-conflicts.ts';

const LEASE_MS = 5 * 60_000;
/** A lease with less than this left is renewed, so that a slow put does not outlive it. */
const LEASE_LEFT_MS = 2 * 60_000;

export interface PackageObject {
  readonly digest: string;
  /** Canonical. */
  readonly bytes: Uint8Array;
}

export interface ObjectLeaseDeps {
  readonly table: TableStore;
  readonly packages: SkillPackageStore;
  readonly objects: ObjectRecords;
  readonly clock: Clock;
}

/** Keeps one package stored for one publisher; `hold` may be called again after a lost race. */
export interface ObjectLease {
  /**
   * Leases the row and puts the bytes, as far as that is still to do.
   * @returns the writes that confirm the object in the transaction of the revision.
   * @throws LostRace while the collector has the object; ConditionFailed, TransientError.
   */
  hold(): Promise<readonly Write[]>;
}

export function createObjectLease(
  { table, packages, objects, clock }: ObjectLeaseDeps,
  fingerprint: string,
  { digest, bytes }: PackageObject,
): ObjectLease {
  let put: StoredObject | undefined;

  const take = async (current: StoredObject | undefined): Promise<StoredObject> => {
    const row: ObjectRow = {
      digest,
      size_bytes: bytes.byteLength,
      state: 'writing',
      lease_until: new Date(clock.now() + LEASE_MS).toISOString(),
    };
    const condition = current === undefined ? { absent: true as const } : { version: current.version };
    const [version] = await table.transact(objects.write(fingerprint, row, condition));
    if (version === undefined) throw new Error('the table gave no version for the object row');
    return { row, version };
  };

  /** A row that other publishers write too is joined, not taken over: the bytes are the same. */
  const isUsable = ({ row }: StoredObject): boolean =>
    row.state === 'live' || Date.parse(row.lease_until) - clock.now() > LEASE_LEFT_MS;

  /** Nobody can have removed the bytes since they were put: a live row means that someone committed them. */
  const isStillPut = (current: StoredObject): boolean =>
    put !== undefined && (current.version === put.version || current.row.state === 'live');

  return {
    async hold() {
      let current = await objects.get(fingerprint, digest);
      if (current?.row.state === 'collecting') {
        throw new LostRace(`the collector is removing the package ${digest}`);
      }
      if (current === undefined || !isUsable(current)) current = await take(current);
      if (!isStillPut(current)) await packages.put(fingerprint, digest, bytes);
      put = current;
      if (current.row.state === 'live') return [objects.check(fingerprint, digest, current.version)];
      return objects.write(fingerprint, { ...current.row, state: 'live' }, { version: current.version });
    },
  };
}
