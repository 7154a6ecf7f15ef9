/** Which of a sandbox's outputs a run keeps, and why not the others. The list is the claim of a hostile task. */
import type { OutputList } from '../../contracts/daemon.ts';
import { LIMITS } from '../../contracts/limits.ts';
import type { Manifest } from '../../contracts/manifest.ts';
import type { ArtifactRow } from '../../contracts/rows.ts';
import { sizeText } from '../../contracts/size-text.ts';
import { matchGlobs } from './match-globs.ts';
import { relativePathProblem } from './run-request-rules.ts';

export interface SelectedOutput {
  readonly path: string;
  readonly size_bytes: number;
  /** Why it is not collected. */
  readonly refused?: string;
}

export interface Selection {
  /** By path, each once. */
  readonly outputs: readonly SelectedOutput[];
  readonly warnings: readonly string[];
}

/** Refusals that are listed one by one; more are only counted. */
const REFUSALS_LISTED = 256;
const REASON_LENGTH = 200;

/** @param recorded by an attempt before: it counts against the caps, and is not selected again. */
export function selectOutputs(
  { files, refused, truncated }: OutputList,
  { outputs: globs, caps }: Pick<Manifest, 'outputs' | 'caps'>,
  recorded: readonly ArtifactRow[] = [],
): Selection {
  const claimed = distinct([
    ...files.map(({ path, size_bytes }) => claim(path, size_bytes)),
    ...refused.map(({ path, reason }) => claim(path, 0, shownReason(reason))),
  ]);
  const { wanted, warnings } = applyGlobs(claimed, globs);
  const known = new Set(recorded.map(({ path }) => path));
  const kept = recorded.filter((artifact) => artifact.refused === null);
  const left = wanted.filter(({ path }) => !known.has(path));
  const capped = applyCaps(left, caps, kept);
  const refusals = capped.filter((output) => output.refused !== undefined);
  const unlisted = new Set(refusals.slice(Math.max(0, REFUSALS_LISTED - (recorded.length - kept.length))));
  return {
    outputs: capped.filter((output) => !unlisted.has(output)),
    warnings: [
      ...warnings,
      ...(unlisted.size > 0 ? [`${unlisted.size} more outputs were refused than are listed`] : []),
      ...(truncated
        ? [`there were more than ${LIMITS.outputEntries} outputs; the rest was not looked at`]
        : []),
    ],
  };
}

/** A path that could be no key or could point elsewhere is refused under a name that is safe to show. */
function claim(path: string, size: number, refused?: string): SelectedOutput {
  const problem = relativePathProblem(path);
  if (problem === undefined) {
    return { path, size_bytes: size, ...(refused === undefined ? {} : { refused }) };
  }
  const shown = Buffer.from(path.toWellFormed(), 'utf8')
    .toString('utf8', 0, LIMITS.pathBytes / 2)
    .replaceAll(/[\u0000-\u001f\u007f\ufffd]/g, '?');
  return { path: shown === '' ? '?' : shown, size_bytes: size, refused: problem };
}

/** The task may have written it: cut, and without what could play with a terminal. */
const shownReason = (reason: string): string =>
  reason.slice(0, REASON_LENGTH).replaceAll(/[\p{Cc}\p{Cf}\p{Cs}]/gu, ' ');

function distinct(outputs: readonly SelectedOutput[]): SelectedOutput[] {
  const byPath = new Map<string, SelectedOutput>();
  for (const output of outputs) if (!byPath.has(output.path)) byPath.set(output.path, output);
  return [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

function applyGlobs(
  outputs: readonly SelectedOutput[],
  globs: readonly string[] | null,
): { wanted: readonly SelectedOutput[]; warnings: string[] } {
  if (globs === null) return { wanted: outputs, warnings: [] };
  const paths = outputs.map(({ path }) => path);
  const matches = matchGlobs(globs, paths);
  const kept = new Set(matches.flat());
  const idle = globs.filter((_, index) => matches[index]?.length === 0);
  return {
    wanted: outputs.filter((_, index) => kept.has(index)),
    warnings: idle.map((glob) => `the output glob ${JSON.stringify(glob)} matched nothing`),
  };
}

/** The first files by path that fit are kept; the sizes are held against what is read later. */
function applyCaps(
  outputs: readonly SelectedOutput[],
  caps: Manifest['caps'],
  kept: readonly ArtifactRow[],
): SelectedOutput[] {
  let count = kept.length;
  let bytes = kept.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
  return outputs.map((output) => {
    if (output.refused !== undefined) return output;
    if (count >= caps.output_files) {
      return { ...output, refused: `a run keeps at most ${caps.output_files} output files` };
    }
    if (bytes + output.size_bytes > caps.output_bytes) {
      return { ...output, refused: `a run keeps at most ${sizeText(caps.output_bytes)} of outputs together` };
    }
    count += 1;
    bytes += output.size_bytes;
    return output;
  });
}
