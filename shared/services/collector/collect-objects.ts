/**
 * Removes packages without a reference. A pin writes its reference first and reads the object's row second; the
 * collector marks the row first and looks for references second: one of the two always sees the other. A publisher's
 * transaction holds only while the row is as it was read, so it never commits onto a marked one.
 *
 * The mark can be taken back until the row is condemned; from then on the bytes may be gone, and only removal is
 * left, to this collector or, after its lease, to another.
 */
import { LIMITS } from '../../contracts/limits.ts';
import { type ObjectRow, objectIndexRowSchema } from '../../contracts/rows.ts';
import { KEYS } from '../../domain/row-keys.ts';
import { ConditionFailed, type Row } from '../../ports/table-store.ts';
import type { PackageCollectorDeps, Tally } from '../package-collector.ts';
import type { StoredObject } from '../records/object-records.ts';
import { isPlainlyInUse, isReferenced } from './object-references.ts';

const GRACE_MS = LIMITS.unreferencedPackageSeconds * 1_000;
const LEASE_MS = 120_000;
/** With less than this left, another collector may be about to take over: the bytes are no longer ours to delete. */
const LEASE_LEFT_MS = 60_000;

/** @param row of the list of objects. */
export async function collectObject(deps: PackageCollectorDeps, row: Row, tally: Tally): Promise<void> {
  const { fingerprint, digest } = objectIndexRowSchema.parse(row.data);
  try {
    if (await collectPackage(deps, fingerprint, digest)) tally.packages_removed += 1;
  } catch (error) {
    // A publisher, or another collector, was faster: then it is not to be removed now.
    if (!(error instanceof ConditionFailed)) throw error;
  }
}

/** @returns true when this call has removed the package. */
async function collectPackage(
  deps: PackageCollectorDeps,
  fingerprint: string,
  digest: string,
): Promise<boolean> {
  if (await isPlainlyInUse(deps, fingerprint, digest)) return false;
  const found = await deps.objects.get(fingerprint, digest);
  if (found === undefined) return false;
  if (found.row.condemned === true) {
    if (deps.clock.now() < Date.parse(found.row.lease_until)) return false;
    return remove(deps, fingerprint, await condemn(deps, fingerprint, found));
  }
  const marked = await mark(deps, fingerprint, found);
  if (marked === undefined) return false;
  if (await isReferenced(deps, fingerprint, digest)) {
    await rewrite(deps, fingerprint, marked, { ...marked.row, state: 'live' });
    return false;
  }
  return remove(deps, fingerprint, await condemn(deps, fingerprint, marked));
}

/** Undefined when the package is to stay. A mark that a dead collector has left is taken up as it is. */
async function mark(
  deps: PackageCollectorDeps,
  fingerprint: string,
  found: StoredObject,
): Promise<StoredObject | undefined> {
  const { row } = found;
  if (row.state === 'collecting') return found;
  if (deps.clock.now() < Date.parse(row.lease_until) + GRACE_MS) return undefined;
  // Marking what is in use would only make pins fail that are in no danger.
  if (await isReferenced(deps, fingerprint, row.digest)) return undefined;
  return rewrite(deps, fingerprint, found, { ...row, state: 'collecting' });
}

function condemn(
  deps: PackageCollectorDeps,
  fingerprint: string,
  marked: StoredObject,
): Promise<StoredObject> {
  const lease_until = new Date(deps.clock.now() + LEASE_MS).toISOString();
  return rewrite(deps, fingerprint, marked, { ...marked.row, condemned: true, lease_until });
}

async function rewrite(
  { table, objects }: PackageCollectorDeps,
  fingerprint: string,
  { version }: StoredObject,
  row: ObjectRow,
): Promise<StoredObject> {
  const [written] = await table.transact(objects.write(fingerprint, row, { version }));
  if (written === undefined) throw new Error('the table gave no version for the object row');
  return { row, version: written };
}

/** Bytes before rows: what is left by a crash in between is still listed. */
async function remove(
  { table, packages, clock, logger }: PackageCollectorDeps,
  fingerprint: string,
  { row, version }: StoredObject,
): Promise<boolean> {
  if (clock.now() > Date.parse(row.lease_until) - LEASE_LEFT_MS) return false;
  await packages.delete(fingerprint, row.digest);
  await table.transact([
    { kind: 'delete', key: KEYS.object(fingerprint, row.digest), if: { version } },
    { kind: 'delete', key: KEYS.objectIndexEntry(fingerprint, row.digest) },
  ]);
  logger.info('package.collected', { fingerprint, digest: row.digest, size_bytes: row.size_bytes });
  return true;
}
