import { ERROR_CODES } from '../contracts/error-codes.ts';
import type { Page, PageQuery } from '../contracts/names.ts';
import type {
  CreateSkill,
  PackageFile,
  PatchSkill,
  PutSkill,
  Revision,
  Skill,
  SkillDiff,
  Validation,
} from '../contracts/skill.ts';
import { isCognitionError } from '../domain/cognition-error.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { Logger } from '../ports/logger.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { SkillPackageStore } from '../ports/skill-package-store.ts';
import { ConditionFailed, type TableStore } from '../ports/table-store.ts';
import type { BytesOrDownload, CommitWith, Preconditions, Versioned } from './commit-with.ts';
import type { PackageReader } from './package-reader.ts';
import { createObjectRecords } from './records/object-records.ts';
import { createSkillRecords } from './records/skill-records.ts';
import { deleteSkill, patchSkill } from './skills/change-skill.ts';
import { checkRequest, toValidation } from './skills/check-request.ts';
import { createSkill, putSkill } from './skills/publish-skill.ts';
import {
  diffSkill,
  getFile,
  getPackage,
  getRevision,
  getSkill,
  listFiles,
  listRevisions,
  listSkills,
} from './skills/read-skill.ts';

/** Publishes packages and keeps their immutable revisions. The scope is a trusted fingerprint, never a body's. */
export interface SkillRegistry {
  create(
    fingerprint: string,
    request: CreateSkill,
    commitWith?: CommitWith<Versioned<Skill>>,
  ): Promise<Versioned<Skill>>;
  put(
    fingerprint: string,
    name: string,
    request: PutSkill,
    preconditions: Preconditions,
  ): Promise<Versioned<Skill> & { readonly created: boolean }>;
  patch(
    fingerprint: string,
    name: string,
    request: PatchSkill,
    preconditions: Preconditions,
  ): Promise<Versioned<Skill>>;
  get(fingerprint: string, name: string): Promise<Versioned<Skill>>;
  list(fingerprint: string, page: PageQuery): Promise<Page<Skill>>;
  /** Newest first. */
  listRevisions(fingerprint: string, name: string, page: PageQuery): Promise<Page<Revision>>;
  getRevision(fingerprint: string, name: string, revision: string): Promise<Revision>;
  listFiles(
    fingerprint: string,
    name: string,
    revision?: string,
  ): Promise<{ revision: string; items: PackageFile[] }>;
  getFile(fingerprint: string, name: string, path: string, revision?: string): Promise<BytesOrDownload>;
  getPackage(
    fingerprint: string,
    name: string,
    format: 'canonical' | 'zip',
    revision?: string,
  ): Promise<BytesOrDownload>;
  diff(fingerprint: string, name: string, from: string, to?: string): Promise<SkillDiff>;
  delete(fingerprint: string, name: string, preconditions: Preconditions): Promise<void>;
  /** Stores nothing, throws nothing for a bad package. */
  validate(request: CreateSkill): Validation;
}

export interface SkillRegistryDeps {
  readonly table: TableStore;
  readonly packages: SkillPackageStore;
  readonly reader: PackageReader;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** For jitter, in [0, 1). */
  readonly random: () => number;
}

export function createSkillRegistry(given: SkillRegistryDeps): SkillRegistry {
  const deps = {
    ...given,
    skills: createSkillRecords(given.table),
    objects: createObjectRecords(given.table),
  };
  return {
    create: (fingerprint, request, commitWith) =>
      countFailures(deps, createSkill(deps, fingerprint, request, commitWith)),
    put: (fingerprint, name, request, conditions) =>
      countFailures(deps, putSkill(deps, fingerprint, name, request, conditions)),
    patch: (fingerprint, name, request, conditions) =>
      patchSkill(deps, fingerprint, name, request, conditions),
    delete: (fingerprint, name, conditions) => deleteSkill(deps, fingerprint, name, conditions),
    get: (fingerprint, name) => getSkill(deps, fingerprint, name),
    list: (fingerprint, page) => listSkills(deps, fingerprint, page),
    listRevisions: (fingerprint, name, page) => listRevisions(deps, fingerprint, name, page),
    getRevision: (fingerprint, name, revision) => getRevision(deps, fingerprint, name, revision),
    listFiles: (fingerprint, name, revision) => listFiles(deps, fingerprint, name, revision),
    getFile: (fingerprint, name, path, revision) => getFile(deps, fingerprint, name, path, revision),
    getPackage: (fingerprint, name, format, revision) =>
      getPackage(deps, fingerprint, name, format, revision),
    diff: (fingerprint, name, from, to) => diffSkill(deps, fingerprint, name, from, to),
    validate: (request) =>
      toValidation(request.name, checkRequest(request.name, request, given.packages.max_bytes)),
  };
}

async function countFailures<T>({ metrics }: SkillRegistryDeps, publication: Promise<T>): Promise<T> {
  try {
    return await publication;
  } catch (error) {
    if (isFaultOfOurs(error)) metrics.add({ name: 'PublicationFailures' });
    throw error;
  }
}

/** A package, condition or name that was refused is the caller's, and so is a race with other callers. */
const isFaultOfOurs = (error: unknown): boolean =>
  isCognitionError(error) ? ERROR_CODES[error.code].status >= 500 : !(error instanceof ConditionFailed);
