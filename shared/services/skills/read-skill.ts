/** Reads of skills. Each begins at the pointer of the exact scope; bytes are served only when their hash is right. */
import { LIMITS } from '../../contracts/limits.ts';
import { idSchema, nameSchema, type Page, type PageQuery } from '../../contracts/names.ts';
import type { RevisionRow } from '../../contracts/rows.ts';
import type { PackageFile, Revision, Skill, SkillDiff } from '../../contracts/skill.ts';
import { CognitionError } from '../../domain/cognition-error.ts';
import { sha256Hex } from '../../domain/sha256.ts';
import type { Clock } from '../../ports/clock.ts';
import type { SkillPackageStore } from '../../ports/skill-package-store.ts';
import type { BytesOrDownload, Versioned } from '../commit-with.ts';
import type { PackageReader } from '../package-reader.ts';
import { decodeCursor, encodeCursor } from '../page-cursor.ts';
import type { SkillRecords, StoredSkill } from '../records/skill-records.ts';
import { diffPackages } from './diff-packages.ts';
import {
  findSkill,
  requirePackage,
  requireRevision,
  requireSkill,
  toSkill,
  versioned,
} from './skill-state.ts';
import { zipPackage } from './zip-package.ts';

export interface ReadDeps {
  readonly skills: SkillRecords;
  readonly packages: SkillPackageStore;
  readonly reader: PackageReader;
  readonly clock: Clock;
}

export async function getSkill(deps: ReadDeps, fingerprint: string, name: string): Promise<Versioned<Skill>> {
  return versioned((await requireNamed(deps, fingerprint, name)).row);
}

export async function listSkills(
  { skills }: ReadDeps,
  fingerprint: string,
  { cursor, limit }: PageQuery,
): Promise<Page<Skill>> {
  const after = decodeCursor('skills', cursor, nameSchema);
  const { rows, next } = await skills.list(fingerprint, { limit, after });
  return pageOf('skills', rows.map(toSkill), next);
}

export async function listRevisions(
  deps: ReadDeps,
  fingerprint: string,
  name: string,
  { cursor, limit }: PageQuery,
): Promise<Page<Revision>> {
  const after = decodeCursor('revisions', cursor, idSchema);
  const { row } = await requireNamed(deps, fingerprint, name);
  const { rows, next } = await deps.skills.listRevisions(fingerprint, row.skill_id, { limit, after });
  return pageOf('revisions', rows.map(toRevision), next);
}

export async function getRevision(
  deps: ReadDeps,
  fingerprint: string,
  name: string,
  revision: string,
): Promise<Revision> {
  const skill = await requireNamed(deps, fingerprint, name);
  return toRevision(await requireRevision(deps.skills, fingerprint, skill, revision));
}

export async function listFiles(
  deps: ReadDeps,
  fingerprint: string,
  name: string,
  revision?: string,
): Promise<{ revision: string; items: PackageFile[] }> {
  const row = await packageOf(deps, fingerprint, name, revision);
  const files = await deps.reader.index(fingerprint, row.digest);
  return {
    revision: row.revision,
    items: files.map(({ path, size_bytes, sha256 }) => ({ path, size_bytes, sha256 })),
  };
}

export async function getFile(
  deps: ReadDeps,
  fingerprint: string,
  name: string,
  path: string,
  revision?: string,
): Promise<BytesOrDownload> {
  const row = await packageOf(deps, fingerprint, name, revision);
  const wanted = path.normalize('NFC');
  const files = await deps.reader.entries(fingerprint, row.digest);
  const file = files.find((entry) => entry.path === wanted);
  if (file === undefined) {
    throw new CognitionError(
      'not_found',
      `the skill "${name}" has no file ${JSON.stringify(path)}; list them with /files`,
    );
  }
  const size = file.content.byteLength;
  if (size > LIMITS.responseBodyBytes) throw tooLarge(`the file is ${size} bytes`);
  return bytesOf(file.content, 'text/plain; charset=utf-8');
}

export async function getPackage(
  deps: ReadDeps,
  fingerprint: string,
  name: string,
  format: 'canonical' | 'zip',
  revision?: string,
): Promise<BytesOrDownload> {
  const { digest } = await packageOf(deps, fingerprint, name, revision);
  if (format === 'zip') {
    const zip = await zipPackage(name, await deps.reader.entries(fingerprint, digest));
    if (zip.byteLength > LIMITS.responseBodyBytes) throw tooLarge(`the zip is ${zip.byteLength} bytes`);
    return bytesOf(zip, 'application/zip');
  }
  const bytes = await deps.reader.bytes(fingerprint, digest);
  if (bytes.byteLength <= LIMITS.responseBodyBytes) return bytesOf(bytes, 'application/octet-stream');
  return download(deps, fingerprint, name, digest, bytes.byteLength);
}

export async function diffSkill(
  deps: ReadDeps,
  fingerprint: string,
  name: string,
  from: string,
  to?: string,
): Promise<SkillDiff> {
  const skill = await requireNamed(deps, fingerprint, name);
  const [before, after] = await Promise.all([
    requirePackage(deps.skills, fingerprint, skill, from),
    requirePackage(deps.skills, fingerprint, skill, to),
  ]);
  const about = {
    name,
    from: before.revision,
    to: after.revision,
    from_digest: before.digest,
    to_digest: after.digest,
  };
  if (before.digest === after.digest) return { ...about, files: [] };
  const [old, current] = await Promise.all([
    deps.reader.entries(fingerprint, before.digest),
    deps.reader.entries(fingerprint, after.digest),
  ]);
  return { ...about, files: await diffPackages(old, current) };
}

async function requireNamed({ skills }: ReadDeps, fingerprint: string, name: string): Promise<StoredSkill> {
  return requireSkill(name, await findSkill(skills, fingerprint, name));
}

async function packageOf(deps: ReadDeps, fingerprint: string, name: string, revision: string | undefined) {
  return requirePackage(deps.skills, fingerprint, await requireNamed(deps, fingerprint, name), revision);
}

function toRevision({ skill_id: _, ...revision }: RevisionRow): Revision {
  return revision;
}

function pageOf<T>(list: string, items: T[], next: string | undefined): Page<T> {
  return next === undefined ? { items } : { items, next_cursor: encodeCursor(list, next) };
}

function bytesOf(bytes: Uint8Array, content_type: string): BytesOrDownload {
  return { kind: 'bytes', bytes, sha256: sha256Hex(bytes), content_type };
}

async function download(
  { packages, clock }: ReadDeps,
  fingerprint: string,
  name: string,
  digest: string,
  size_bytes: number,
): Promise<BytesOrDownload> {
  const expires = clock.now() + LIMITS.downloadUrlSeconds * 1_000;
  const download_url = await packages.downloadUrl(fingerprint, digest, `${name}.cskpkg`);
  if (download_url === undefined) throw tooLarge(`the package is ${size_bytes} bytes`);
  return {
    kind: 'download',
    download_url,
    expires_at: new Date(expires).toISOString(),
    sha256: digest.slice('sha256:'.length),
    size_bytes,
  };
}

const tooLarge = (what: string): CognitionError =>
  new CognitionError(
    'body_too_large',
    `${what}, and an answer holds at most ${LIMITS.responseBodyBytes}; fetch the canonical package, which is answered with a download_url where it is larger`,
  );
