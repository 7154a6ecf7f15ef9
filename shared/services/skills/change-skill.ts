/** Changes of the pointer alone: no new revision, no bytes. */
import { isDeepStrictEqual } from 'node:util';
import type { SkillRow } from '../../contracts/rows.ts';
import type { PatchSkill, Skill } from '../../contracts/skill.ts';
import type { Clock } from '../../ports/clock.ts';
import type { TableStore } from '../../ports/table-store.ts';
import type { Preconditions, Versioned } from '../commit-with.ts';
import { deleteOnce } from '../delete-once.ts';
import { requirePreconditions } from '../preconditions.ts';
import type { SkillRecords, StoredSkill } from '../records/skill-records.ts';
import { type RetryDeps, retryConflicts } from '../retry-conflicts.ts';
import { etagOf, findSkill, requireRevision, requireSkill, versioned, writtenAt } from './skill-state.ts';

export interface ChangeDeps extends RetryDeps {
  readonly table: TableStore;
  readonly skills: SkillRecords;
  readonly clock: Clock;
}

/** `current_revision` rolls back, or forward, by pointer. What changes nothing is not a write. */
export function patchSkill(
  deps: ChangeDeps,
  fingerprint: string,
  name: string,
  request: PatchSkill,
  preconditions: Preconditions,
): Promise<Versioned<Skill>> {
  let written: SkillRow | undefined;
  return retryConflicts(deps, `the skill "${name}"`, async () => {
    const found = await findSkill(deps.skills, fingerprint, name);
    // Our own write, whose reply was lost.
    if (found !== undefined && isDeepStrictEqual(found.row, written)) return versioned(found.row);
    const { row, version } = requireUnchanged(name, found, preconditions);
    const pointed = await pointTo(deps, fingerprint, { row, version }, request.current_revision);
    const enabled = request.enabled ?? row.enabled;
    if (pointed.revision === row.revision && enabled === row.enabled) return versioned(row);
    const next = { ...pointed, enabled, updated_at: writtenAt(deps.clock, row) };
    written = next;
    await deps.table.transact([deps.skills.writePointer(fingerprint, next, { version })]);
    return versioned(next);
  });
}

/** The name is free at once. Revisions stay for the runs that pinned them, until the collector takes them. */
export function deleteSkill(
  deps: ChangeDeps,
  fingerprint: string,
  name: string,
  preconditions: Preconditions,
): Promise<void> {
  return deleteOnce(deps, `the skill "${name}"`, async (isRepeated) => {
    const found = await findSkill(deps.skills, fingerprint, name);
    if (found === undefined && isRepeated) return [];
    const skill = requireUnchanged(name, found, preconditions);
    return deps.skills.remove(fingerprint, skill, new Date(deps.clock.now()).toISOString());
  });
}

/** With If-Match, a skill that is not there is a failed condition and not a missing resource. */
function requireUnchanged(
  name: string,
  found: StoredSkill | undefined,
  preconditions: Preconditions,
): StoredSkill {
  requirePreconditions(`the skill ${JSON.stringify(name)}`, found && etagOf(found.row), preconditions);
  return requireSkill(name, found);
}

/** The row with everything that follows from the revision. */
async function pointTo(
  { skills }: ChangeDeps,
  fingerprint: string,
  skill: StoredSkill,
  revision: string | undefined,
): Promise<SkillRow> {
  if (revision === undefined || revision === skill.row.revision) return skill.row;
  const { created_at: _, ...about } = await requireRevision(skills, fingerprint, skill, revision);
  return { ...skill.row, ...about };
}
