/**
 * The rules of a package. Every problem is found in one pass; nothing a caller sends makes this throw.
 * Contents are kept exactly as they are, paths are put into NFC once, here.
 */
import type { PackageProblem } from '../../contracts/error-codes.ts';
import type { FilesMap } from '../../contracts/files-map.ts';
import { LIMITS } from '../../contracts/limits.ts';
import { nameSchema } from '../../contracts/names.ts';
import { canonicalLength, encodePackage, packageDigest } from '../canonical-package.ts';
import { checkFrontmatter, invalidName } from './check-frontmatter.ts';
import { checkPath, checkTree } from './check-paths.ts';
import { ProblemList, positionAt, quote } from './problem-list.ts';
import { SKILL_FILE } from './read-frontmatter.ts';

interface Measured {
  readonly file_count: number;
  /** Sum of the contents' UTF-8 bytes. */
  readonly size_bytes: number;
  /** Empty in a valid package. */
  readonly problems: readonly PackageProblem[];
  readonly warnings: readonly PackageProblem[];
}

export interface ValidPackage extends Measured {
  readonly kind: 'valid';
  readonly name: string;
  readonly description: string;
  /** Canonical. */
  readonly bytes: Uint8Array;
  readonly digest: string;
}

export interface InvalidPackage extends Measured {
  readonly kind: 'invalid';
  /** More than are listed when there are very many. */
  readonly problem_count: number;
}

export type CheckedPackage = ValidPackage | InvalidPackage;

export interface PackageBounds {
  /** Of canonical bytes: what the selected package store takes, when that is less than the limit. */
  readonly max_bytes?: number;
}

/** @param name the skill's name; the frontmatter must repeat it. */
export function validatePackage(name: string, files: FilesMap, bounds: PackageBounds = {}): CheckedPackage {
  const problems = new ProblemList();
  const add = (problem: PackageProblem): void => problems.add(problem);
  const paths = [...files.keys()].map((path) => path.normalize('NFC'));
  checkCount(files, problems);
  const judged = paths.slice(0, LIMITS.packageFiles);
  for (const path of judged) checkPath(path, problems);
  checkTree(judged, problems);
  const sizes = checkContents(files, problems);
  const size = sizes.reduce((sum, bytes) => sum + bytes, 0);
  checkSize(
    canonicalLength(paths, size),
    Math.min(bounds.max_bytes ?? Infinity, LIMITS.packageBytes),
    problems,
  );
  const { description, warnings } = checkSkillFile(name, files, add);

  const measured = { file_count: files.size, size_bytes: size, problems: problems.listed, warnings };
  if (problems.total > 0) {
    return { kind: 'invalid', ...measured, problem_count: problems.total };
  }
  const normalized = new Map([...files.values()].map((text, index) => [paths[index] ?? '', text]));
  const bytes = encodePackage(normalized, sizes);
  return { kind: 'valid', ...measured, name, description, bytes, digest: packageDigest(bytes) };
}

function checkCount(files: FilesMap, problems: ProblemList): void {
  if (files.size <= LIMITS.packageFiles) return;
  problems.add({
    code: 'package_too_many_files',
    message: `the package has ${files.size} files; at most ${LIMITS.packageFiles} are allowed, and only those were looked at`,
  });
}

/** @returns the UTF-8 bytes of each content. */
function checkContents(files: FilesMap, problems: ProblemList): number[] {
  const sizes: number[] = [];
  for (const [path, text] of files) {
    sizes.push(Buffer.byteLength(text, 'utf8'));
    if (text.isWellFormed()) continue;
    const position = positionAt(text, text.search(/\p{Surrogate}/u));
    problems.add({
      code: 'content_lone_surrogate',
      path,
      ...position,
      message: `${quote(path)} has half of a surrogate pair; packages hold UTF-8 text, so use valid Unicode`,
    });
  }
  return sizes;
}

function checkSize(bytes: number, limit: number, problems: ProblemList): void {
  if (bytes <= limit) return;
  problems.add({
    code: 'package_too_large',
    message: `the package is ${bytes} canonical bytes (contents, paths and 12 bytes a file); at most ${limit} are allowed here, so make it smaller or pass large data as an input artifact`,
  });
}

function checkSkillFile(name: string, files: FilesMap, add: (problem: PackageProblem) => void) {
  const text = files.get(SKILL_FILE);
  const checked = text === undefined ? undefined : checkFrontmatter(name, text, add);
  if (text === undefined) add(noSkillFile(files));
  // Where the frontmatter repeats a bad name, that report is enough.
  if (!nameSchema.safeParse(name).success && checked?.name !== name) {
    add({ code: 'frontmatter_name_invalid', message: `in the request, ${invalidName(name)}` });
  }
  return { description: checked?.description ?? '', warnings: checked?.warnings ?? [] };
}

function noSkillFile(files: FilesMap): PackageProblem {
  for (const path of files.keys()) {
    if (
      path
        .slice(-SKILL_FILE.length - 1)
        .toUpperCase()
        .endsWith(SKILL_FILE.toUpperCase())
    ) {
      return {
        code: 'frontmatter_no_skill_md',
        path,
        message: `there is no ${SKILL_FILE} at the root of the package, only ${quote(path)}; call it exactly "${SKILL_FILE}"`,
      };
    }
  }
  return {
    code: 'frontmatter_no_skill_md',
    message: `there is no ${SKILL_FILE} at the root of the package; add one with name and description`,
  };
}
