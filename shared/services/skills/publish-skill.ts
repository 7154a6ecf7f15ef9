/** Create and replace: validated bytes first, then one transaction that makes them the current revision. */
import { isDeepStrictEqual } from 'node:util';
import type { RevisionRow, SkillRow } from '../../contracts/rows.ts';
import type { CreateSkill, PutSkill, Skill } from '../../contracts/skill.ts';
import { CognitionError } from '../../domain/cognition-error.ts';
import type { ValidPackage } from '../../domain/package/validate-package.ts';
import type { Ids } from '../../ports/ids.ts';
import type { Logger } from '../../ports/logger.ts';
import { type Condition, ConditionFailed, type Write } from '../../ports/table-store.ts';
import type { CommitWith, Preconditions, Versioned } from '../commit-with.ts';
import { requirePreconditions } from '../preconditions.ts';
import type { SkillRecords, StoredSkill } from '../records/skill-records.ts';
import { type RetryDeps, retryConflicts } from '../retry-conflicts.ts';
import { checkRequest, requireValid } from './check-request.ts';
import { createObjectLease, type ObjectLease, type ObjectLeaseDeps } from './object-lease.ts';
import { etagOf, versioned, writtenAt } from './skill-state.ts';

export interface PublishDeps extends ObjectLeaseDeps, RetryDeps {
  readonly skills: SkillRecords;
  readonly ids: Ids;
  readonly logger: Logger;
}

type Published = Versioned<Skill> & { readonly created: boolean };

/** What this call writes, fixed before the first attempt: a reply that was lost is recognized by it. */
interface Draft {
  readonly checked: ValidPackage;
  readonly skill_id: string;
  readonly revision: string;
}

export async function createSkill(
  deps: PublishDeps,
  fingerprint: string,
  request: CreateSkill,
  commitWith: CommitWith<Versioned<Skill>> = () => [],
): Promise<Versioned<Skill>> {
  const draft = draftOf(deps, request.name, request);
  const lease = createObjectLease(deps, fingerprint, draft.checked);
  // A condition of the caller's writes is an answer, not a race, so it leaves the loop as a value.
  const outcome = await retryConflicts(deps, `the skill "${request.name}"`, async () => {
    const current = await deps.skills.get(fingerprint, request.name);
    if (current?.row.revision === draft.revision) return versioned(current.row);
    if (current !== undefined) throw skillExists(request.name);
    const row = newRow(draft, writtenAt(deps.clock), request.enabled);
    const extra = commitWith(versioned(row));
    const own = [...(await lease.hold()), ...revisionWrites(deps, fingerprint, draft, row, { absent: true })];
    return (await transactWith(deps, own, extra)) ?? announced(deps, fingerprint, row);
  });
  if (outcome instanceof Error) throw outcome;
  return outcome;
}

export async function putSkill(
  deps: PublishDeps,
  fingerprint: string,
  name: string,
  request: PutSkill,
  preconditions: Preconditions,
): Promise<Published> {
  const draft = draftOf(deps, name, request);
  const lease = createObjectLease(deps, fingerprint, draft.checked);
  let kept: SkillRow | undefined;
  return retryConflicts(deps, `the skill "${name}"`, async () => {
    const current = await deps.skills.get(fingerprint, name);
    // Our own write, whose reply was lost.
    if (current?.row.revision === draft.revision) {
      return { ...versioned(current.row), created: current.row.skill_id === draft.skill_id };
    }
    if (current !== undefined && isDeepStrictEqual(current.row, kept)) {
      return { ...versioned(current.row), created: false };
    }
    requirePreconditions(`the skill "${name}"`, current && etagOf(current.row), preconditions);
    if (current?.row.digest === draft.checked.digest) {
      const { row } = current;
      kept = { ...row, enabled: request.enabled ?? row.enabled, updated_at: writtenAt(deps.clock, row) };
      return keepRevision(deps, fingerprint, current, draft, kept);
    }
    return replace(deps, fingerprint, current, draft, lease, request.enabled);
  });
}

async function replace(
  deps: PublishDeps,
  fingerprint: string,
  current: StoredSkill | undefined,
  draft: Draft,
  lease: ObjectLease,
  enabled: boolean | undefined,
): Promise<Published> {
  const now = writtenAt(deps.clock, current?.row);
  const fresh = newRow(draft, now, enabled ?? current?.row.enabled ?? true);
  const { skill_id, created_at } = current?.row ?? fresh;
  const row = { ...fresh, skill_id, created_at };
  const condition = current === undefined ? { absent: true as const } : { version: current.version };
  const confirmed = await lease.hold();
  await deps.table.transact([...confirmed, ...revisionWrites(deps, fingerprint, draft, row, condition)]);
  return { ...announced(deps, fingerprint, row), created: current === undefined };
}

function announced({ logger }: PublishDeps, fingerprint: string, row: SkillRow): Versioned<Skill> {
  const { name, revision, digest, size_bytes } = row;
  logger.info('skill published', { fingerprint, skill: name, revision, digest, size_bytes });
  return versioned(row);
}

/**
 * Equal content keeps its revision, and its ETag when nothing else changes. The bytes are put all the same: that
 * is how a builder repairs a package whose stored bytes were lost or damaged.
 */
async function keepRevision(
  { table, skills, packages }: PublishDeps,
  fingerprint: string,
  current: StoredSkill,
  { checked }: Draft,
  row: SkillRow,
): Promise<Published> {
  await packages.put(fingerprint, checked.digest, checked.bytes);
  if (row.enabled === current.row.enabled) return { ...versioned(current.row), created: false };
  await table.transact([skills.writePointer(fingerprint, row, { version: current.version })]);
  return { ...versioned(row), created: false };
}

function draftOf({ ids, packages }: PublishDeps, name: string, request: CreateSkill | PutSkill): Draft {
  const checked = requireValid(name, checkRequest(name, request, packages.max_bytes));
  return { checked, skill_id: ids.next(), revision: ids.next() };
}

function newRow({ checked, skill_id, revision }: Draft, now: string, enabled: boolean): SkillRow {
  return {
    skill_id,
    name: checked.name,
    description: checked.description,
    revision,
    digest: checked.digest,
    file_count: checked.file_count,
    size_bytes: checked.size_bytes,
    validation_status: checked.warnings.length === 0 ? 'valid' : 'valid_with_warnings',
    warnings: [...checked.warnings],
    enabled,
    created_at: now,
    updated_at: now,
  };
}

function revisionWrites(
  { skills, objects }: PublishDeps,
  fingerprint: string,
  { revision, checked }: Draft,
  row: SkillRow,
  condition: Condition,
): Write[] {
  const { enabled: _, updated_at, ...about } = row;
  const revisionRow: RevisionRow = { ...about, created_at: updated_at };
  return [
    skills.writePointer(fingerprint, row, condition),
    skills.writeRevision(fingerprint, revisionRow),
    objects.referenceRevision(fingerprint, checked.digest, row.skill_id, revision),
  ];
}

const skillExists = (name: string): CognitionError =>
  new CognitionError(
    'skill_exists',
    `the skill "${name}" exists already; replace it with PUT, or delete it first`,
  );

/** @returns the failure when a condition among `extra` did not hold, with indexes into `extra`. */
async function transactWith(
  { table }: PublishDeps,
  own: readonly Write[],
  extra: readonly Write[],
): Promise<ConditionFailed | undefined> {
  try {
    await table.transact([...own, ...extra]);
    return undefined;
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    const failed = error.failed.filter((index) => index >= own.length).map((index) => index - own.length);
    if (failed.length === 0) throw error;
    return new ConditionFailed(failed, { cause: error });
  }
}
