import { runInNewContext } from 'node:vm';
import picomatch from 'picomatch';
import { CognitionError } from '../../domain/cognition-error.ts';
import { GLOB_OPTIONS } from './run-request-rules.ts';

/** Enough for thousands of honest paths; a pattern that backtracks without end is stopped here. */
const MATCH_TIMEOUT_MS = 500;

/**
 * Which paths each glob matches, as indexes. Globs come from callers and paths from a hostile sandbox, and a regular
 * expression can take ages over a bad pair, so that all of the matching has one deadline.
 * @throws CognitionError `collection_failed` when it passes.
 */
export function matchGlobs(globs: readonly string[], paths: readonly string[]): number[][] {
  const patterns = globs.map((glob) => picomatch.makeRe(glob, GLOB_OPTIONS));
  const match = (): number[][] =>
    patterns.map((pattern) => paths.flatMap((path, index) => (pattern.test(path) ? [index] : [])));
  try {
    let matched: number[][] = [];
    const run = (): void => {
      matched = match();
    };
    runInNewContext('run()', { run }, { timeout: MATCH_TIMEOUT_MS });
    return matched;
  } catch (cause) {
    throw new CognitionError(
      'collection_failed',
      `matching ${paths.length} outputs with the globs took too long; use simpler globs`,
      { cause },
    );
  }
}
