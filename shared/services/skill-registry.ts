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
import type { BytesOrDownload, CommitWith, Preconditions, Versioned } from './commit-with.ts';

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
