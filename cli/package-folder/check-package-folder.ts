import { basename, resolve } from 'node:path';
import type { PackageProblem } from '../../shared/contracts/error-codes.ts';
import { checkFrontmatter } from '../../shared/domain/package/check-frontmatter.ts';
import { SKILL_FILE } from '../../shared/domain/package/read-frontmatter.ts';
import { type ValidPackage, validatePackage } from '../../shared/domain/package/validate-package.ts';
import type { FolderProblem } from './folder-problem.ts';
import { readPackageFolder } from './read-package-folder.ts';

export type CheckedFolder = {
  readonly ignored: readonly string[];
  readonly warnings: readonly PackageProblem[];
  /** Of the frontmatter; where it gives none, of the folder. */
  readonly name: string;
  readonly files: ReadonlyMap<string, string>;
} & (
  | { readonly kind: 'valid'; readonly checked: ValidPackage }
  | { readonly kind: 'invalid'; readonly problems: readonly FolderProblem[]; readonly total: number }
);

/** A folder by the same rules that the registry applies, so that a push shows all problems before it sends anything. */
export async function checkPackageFolder(folder: string): Promise<CheckedFolder> {
  const { files, ignored, problems } = await readPackageFolder(folder);
  const skillFile = files.get(SKILL_FILE);
  const written = skillFile === undefined ? undefined : checkFrontmatter('', skillFile, () => {}).name;
  const name = written ?? basename(resolve(folder));
  const checked = validatePackage(name, files);
  const common = { name, files, ignored, warnings: checked.warnings };
  if (checked.kind === 'valid' && problems.length === 0) return { kind: 'valid', ...common, checked };
  const found = checked.kind === 'invalid' ? checked.problems : [];
  const fromRules = found.filter(
    (problem) => isNews(problem, problems, found) && (written !== undefined || !isOfRequest(problem)),
  );
  const unlisted = checked.kind === 'invalid' ? checked.problem_count - found.length : 0;
  const all = [...problems, ...fromRules];
  return { kind: 'invalid', ...common, problems: all, total: all.length + unlisted };
}

/** The name of the folder stands in for one that SKILL.md does not give; nobody asked for it. */
const isOfRequest = ({ code, path }: PackageProblem): boolean =>
  code === 'frontmatter_name_invalid' && path === undefined;

/**
 * A file that could not be read, or was not looked at any more, is there all the same: what its absence would mean
 * is not said as well.
 */
function isNews(
  problem: PackageProblem,
  known: readonly FolderProblem[],
  found: readonly PackageProblem[],
): boolean {
  const path = problem.path ?? (problem.code === 'frontmatter_no_skill_md' ? SKILL_FILE : undefined);
  if (path !== undefined && known.some((other) => other.path === path)) return false;
  if (problem.code === 'frontmatter_no_skill_md') return ![...known, ...found].some(isOfSize);
  return !(isOfSize(problem) && known.some(({ code }) => code === problem.code));
}

const isOfSize = ({ code }: Pick<FolderProblem, 'code'>): boolean =>
  code === 'package_too_large' || code === 'package_too_many_files';
