/** A skill as its row says, and what a caller's conditions mean against it. */
import { idSchema, nameSchema } from '../../contracts/names.ts';
import type { RevisionRow, SkillRow } from '../../contracts/rows.ts';
import type { Skill } from '../../contracts/skill.ts';
import { CognitionError } from '../../domain/cognition-error.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Versioned } from '../commit-with.ts';
import type { SkillRecords, StoredSkill } from '../records/skill-records.ts';

/**
 * The ETag of a skill. `skill_id` is new at every creation and `updated_at` ascends with every write, so no two
 * writes share one. It follows from the row's data and not from the store's version, because the record of an
 * idempotent answer, headers included, is written in the same transaction as the row.
 */
export const etagOf = (row: SkillRow): string => `${row.skill_id}.${Date.parse(row.updated_at).toString(36)}`;

export function toSkill({ skill_id: _, ...skill }: SkillRow): Skill {
  return skill;
}

export const versioned = (row: SkillRow): Versioned<Skill> => ({ value: toSkill(row), etag: etagOf(row) });

/** Now, but after the write before, even when the clock steps back. */
export function writtenAt(clock: Clock, previous?: SkillRow): string {
  const after = previous === undefined ? 0 : Date.parse(previous.updated_at) + 1;
  return new Date(Math.max(clock.now(), after)).toISOString();
}

/** A name that cannot be one is not there, without a read. */
export async function findSkill(
  skills: SkillRecords,
  fingerprint: string,
  name: string,
): Promise<StoredSkill | undefined> {
  return nameSchema.safeParse(name).success ? skills.get(fingerprint, name) : undefined;
}

/** @throws CognitionError `not_found` */
export function requireSkill(name: string, found: StoredSkill | undefined): StoredSkill {
  if (found !== undefined) return found;
  throw new CognitionError('not_found', `there is no skill ${JSON.stringify(name)} in this scope`);
}

/** @throws CognitionError `not_found` */
export async function requireRevision(
  skills: SkillRecords,
  fingerprint: string,
  { row }: StoredSkill,
  revision: string,
): Promise<RevisionRow> {
  const found = idSchema.safeParse(revision).success
    ? await skills.getRevision(fingerprint, row.skill_id, revision)
    : undefined;
  if (found !== undefined) return found;
  throw new CognitionError(
    'not_found',
    `the skill "${row.name}" has no revision ${JSON.stringify(revision)}`,
  );
}

/** Which package a revision is; for the current one the pointer knows it without a second read. */
export async function requirePackage(
  skills: SkillRecords,
  fingerprint: string,
  skill: StoredSkill,
  revision: string = skill.row.revision,
): Promise<Pick<RevisionRow, 'revision' | 'digest'>> {
  if (revision === skill.row.revision) return skill.row;
  return requireRevision(skills, fingerprint, skill, revision);
}
