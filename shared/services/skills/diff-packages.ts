/** What changed between two packages, file by file, with unified diffs where they stay small. */
import { createTwoFilesPatch } from 'diff';
import { LIMITS } from '../../contracts/limits.ts';
import type { FileChange } from '../../contracts/skill.ts';
import type { PackageEntry } from '../../domain/canonical-package.ts';
import { sha256Hex } from '../../domain/sha256.ts';

/** Lines added and removed that one comparison looks for before it gives up: its cost grows with the square. */
const MAX_EDITS = 2_000;
/** All diffs of one answer, so that it fits into a response with JSON's escapes. */
const MAX_TEXT = LIMITS.responseBodyBytes / 4;

type Side = PackageEntry | undefined;

export function diffPackages(from: readonly PackageEntry[], to: readonly PackageEntry[]): FileChange[] {
  const before = new Map(from.map((entry) => [entry.path, entry]));
  const after = new Map(to.map((entry) => [entry.path, entry]));
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort(byBytes);
  const budget = { left: MAX_TEXT };
  return paths.flatMap((path) => {
    const change = compare(path, before.get(path), after.get(path));
    return change === undefined
      ? []
      : [{ ...change, ...textDiff(path, before.get(path), after.get(path), budget) }];
  });
}

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

function compare(path: string, from: Side, to: Side): FileChange | undefined {
  const from_sha256 = from && sha256Hex(from.content);
  const to_sha256 = to && sha256Hex(to.content);
  if (from_sha256 === to_sha256) return undefined;
  const change = from === undefined ? 'added' : to === undefined ? 'removed' : 'changed';
  return {
    path,
    change,
    ...(from_sha256 === undefined ? {} : { from_sha256 }),
    ...(to_sha256 === undefined ? {} : { to_sha256 }),
  };
}

function textDiff(
  path: string,
  from: Side,
  to: Side,
  budget: { left: number },
): Pick<FileChange, 'diff' | 'diff_omitted'> {
  const sizes = [from?.content.byteLength ?? 0, to?.content.byteLength ?? 0];
  if (Math.max(...sizes) > LIMITS.diffFileBytes) {
    return { diff_omitted: `larger than ${LIMITS.diffFileBytes} bytes` };
  }
  if (budget.left <= 0) return { diff_omitted: 'the answer has no room left; compare fewer changes at once' };
  const options = { maxEditLength: MAX_EDITS, context: 3 };
  const diff = createTwoFilesPatch(path, path, textOf(from), textOf(to), undefined, undefined, options);
  if (diff === undefined) return { diff_omitted: `more than ${MAX_EDITS} lines differ` };
  if (diff.length > budget.left) {
    budget.left = 0;
    return { diff_omitted: 'the answer has no room left; compare fewer changes at once' };
  }
  budget.left -= diff.length;
  return { diff };
}

const textOf = (side: Side): string =>
  side === undefined
    ? ''
    : Buffer.from(side.content.buffer, side.content.byteOffset, side.content.byteLength).toString('utf8');
