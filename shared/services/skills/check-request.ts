import type { FilesMap } from '../../contracts/files-map.ts';
import type { Validation } from '../../contracts/skill.ts';
import { CognitionError } from '../../domain/cognition-error.ts';
import {
  type CheckedPackage,
  type InvalidPackage,
  type ValidPackage,
  validatePackage,
} from '../../domain/package/validate-package.ts';

interface PackageSource {
  readonly files?: FilesMap | undefined;
  /** Short for a package of one SKILL.md. */
  readonly content?: string | undefined;
}

export function checkRequest(name: string, source: PackageSource, maxBytes: number): CheckedPackage {
  const files = source.files ?? new Map([['SKILL.md', source.content ?? '']]);
  return validatePackage(name, files, { max_bytes: maxBytes });
}

/** @throws CognitionError `invalid_package`, or `body_too_large` where size is among the problems. */
export function requireValid(name: string, checked: CheckedPackage): ValidPackage {
  if (checked.kind === 'valid') return checked;
  const { problems } = checked;
  const size = problems.find((problem) => problem.code === 'package_too_large');
  if (size !== undefined) throw new CognitionError('body_too_large', size.message, { problems });
  throw new CognitionError('invalid_package', summary(name, checked), { problems });
}

function summary(name: string, { problems, problem_count }: InvalidPackage): string {
  const shown = JSON.stringify(name.toWellFormed());
  const listed = problem_count > problems.length ? `, of which ${problems.length} are listed` : '';
  const [first] = problems;
  const what =
    problem_count === 1 ? (first?.message ?? '') : `${problem_count} problems${listed}; nothing was stored`;
  return `the package of the skill ${shown} is not valid: ${what}`;
}

export function toValidation(name: string, checked: CheckedPackage): Validation {
  const { file_count, size_bytes } = checked;
  const warnings = [...checked.warnings];
  const counted = { name, file_count, size_bytes, problems: [...checked.problems], warnings };
  if (checked.kind === 'invalid') return { ...counted, validation_status: 'invalid' };
  const validation_status = warnings.length === 0 ? 'valid' : 'valid_with_warnings';
  return { ...counted, validation_status, digest: checked.digest };
}
