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
  const fromRules = checked.kind === 'invalid' ? checked.problems.filter(isNews(problems)) : [];
  const unlisted = checked.kind === 'invalid' ? checked.problem_count - checked.problems.length : 0;
  const all = [...problems, ...fromRules];
  return { kind: 'invalid', ...common, problems: all, total: all.length + unlisted };
}

/** A file that could not be read is there all the same: what its absence would mean is not said as well. */
const isNews =
  (known: readonly FolderProblem[]) =>
  (found: PackageProblem): boolean =>
    !known.some(
      ({ path, code }) =>
        (path !== undefined && path === (found.path ?? SKILL_FILE)) ||
        (code === found.code && code.startsWith('package_')),
    );
