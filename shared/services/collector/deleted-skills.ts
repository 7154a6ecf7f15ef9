/** Removes the revisions of deleted skills, so that their packages lose their references. */
import { LIMITS } from '../../contracts/limits.ts';
import { deletedSkillRowSchema, revisionRowSchema } from '../../contracts/rows.ts';
import { KEYS } from '../../domain/row-keys.ts';
import type { Row, Write } from '../../ports/table-store.ts';
import type { PackageCollectorDeps, Tally } from '../package-collector.ts';
import { isHeldByRun } from './object-references.ts';

/** A revision takes two of the 100 writes of a transaction. */
const REVISIONS_AT_ONCE = 50;
const GRACE_MS = LIMITS.unreferencedPackageSeconds * 1_000;

/** @param row of the list of deleted skills. */
export async function collectDeletedSkill(deps: PackageCollectorDeps, row: Row, tally: Tally): Promise<void> {
  const { fingerprint, skill_id, deleted_at } = deletedSkillRowSchema.parse(row.data);
  if (deps.clock.now() < Date.parse(deleted_at) + GRACE_MS) return;
  const held = await removeRevisions(deps, fingerprint, skill_id, tally);
  if (held === 0) await deps.table.transact([{ kind: 'delete', key: { pk: row.pk, sk: row.sk } }]);
}

/**
 * None is added meanwhile: to publish one takes the pointer of its skill, which is gone.
 * @returns how many stay, because a run has pinned them.
 */
async function removeRevisions(
  deps: PackageCollectorDeps,
  fingerprint: string,
  skillId: string,
  tally: Tally,
): Promise<number> {
  let held = 0;
  let after: string | undefined;
  do {
    const page = await deps.table.query(KEYS.revisions(fingerprint, skillId), {
      limit: REVISIONS_AT_ONCE,
      ...(after !== undefined && { after }),
    });
    const removals = await Promise.all(page.rows.map((row) => removalOf(deps, fingerprint, row)));
    const writes = removals.flat();
    if (writes.length > 0) await deps.table.transact(writes);
    tally.revisions_removed += writes.length / 2;
    held += removals.filter((removal) => removal.length === 0).length;
    after = page.next;
  } while (after !== undefined);
  return held;
}

/** Nothing to write for a revision that a run holds. */
async function removalOf(deps: PackageCollectorDeps, fingerprint: string, row: Row): Promise<Write[]> {
  const { digest, skill_id, revision } = revisionRowSchema.parse(row.data);
  if (await isHeldByRun(deps, fingerprint, { digest, skill_id, revision })) return [];
  return [
    { kind: 'delete', key: KEYS.revision(fingerprint, skill_id, revision) },
    { kind: 'delete', key: KEYS.revisionReference(fingerprint, digest, skill_id, revision) },
  ];
}
