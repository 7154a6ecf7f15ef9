/** What changed between two packages, file by file, with unified diffs where they stay small. */
import { setImmediate } from 'node:timers/promises';
import { createTwoFilesPatch } from 'diff';
import { LIMITS } from '../../contracts/limits.ts';
import type { FileChange } from '../../contracts/skill.ts';
import type { PackageEntry } from '../../domain/canonical-package.ts';
import { sha256Hex } from '../../domain/sha256.ts';

/** Lines added and removed that one comparison looks for before it gives up. */
const MAX_EDITS = 1_000;
/** Below this a comparison is not worth to begin. */
const MIN_EDITS = 20;
/** All diffs of one answer as JSON has them, escapes and all, so that it fits into a response. */
const MAX_TEXT = LIMITS.responseBodyBytes / 2;

/** What one answer may still cost; looking for n edits takes time in proportion to n squared. */
interface Budget {
  text: number;
  work: number;
}

type Side = PackageEntry | undefined;

export async function diffPackages(
  from: readonly PackageEntry[],
  to: readonly PackageEntry[],
): Promise<FileChange[]> {
  const before = new Map(from.map((entry) => [entry.path, entry]));
  const after = new Map(to.map((entry) => [entry.path, entry]));
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort(byBytes);
  const budget = { text: MAX_TEXT, work: MAX_EDITS ** 2 };
  const changes: FileChange[] = [];
  for (const path of paths) {
    const change = compare(path, before.get(path), after.get(path));
    if (change === undefined) continue;
    changes.push({ ...change, ...textDiff(path, before.get(path), after.get(path), budget) });
    // Large packages take a while: let other requests through between two files.
    await setImmediate();
  }
  return changes;
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

const NO_ROOM = { diff_omitted: 'the answer has no room left; compare fewer changes at once' };

function textDiff(
  path: string,
  from: Side,
  to: Side,
  budget: Budget,
): Pick<FileChange, 'diff' | 'diff_omitted'> {
  const largest = Math.max(from?.content.byteLength ?? 0, to?.content.byteLength ?? 0);
  if (largest > LIMITS.diffFileBytes) return { diff_omitted: `larger than ${LIMITS.diffFileBytes} bytes` };
  const isChange = from !== undefined && to !== undefined;
  const edits = Math.floor(Math.sqrt(budget.work));
  if (budget.text <= 0 || (isChange && edits < MIN_EDITS)) return NO_ROOM;
  // One empty side is compared in linear time, however long the other one is.
  const bound = isChange ? { maxEditLength: edits } : {};
  const options = { context: 3, ...bound };
  const diff = createTwoFilesPatch(path, path, textOf(from), textOf(to), undefined, undefined, options);
  if (isChange) budget.work -= diff === undefined ? edits ** 2 : editsIn(diff) ** 2;
  if (diff === undefined) return { diff_omitted: `more than ${edits} lines differ` };
  budget.text -= Buffer.byteLength(JSON.stringify(diff), 'utf8');
  return budget.text < 0 ? NO_ROOM : { diff };
}

const editsIn = (diff: string): number => diff.match(/^[-+]/gm)?.length ?? 0;

const textOf = (side: Side): string =>
  side === undefined
    ? ''
    : Buffer.from(side.content.buffer, side.content.byteOffset, side.content.byteLength).toString('utf8');
