import type { PackageProblem } from '../../contracts/error-codes.ts';
import { LIMITS } from '../../contracts/limits.ts';

/** An answer with more problems than this helps nobody. */
const MAX_LISTED = 1_000;
/** As JSON, where a control character of a path takes six bytes: so that all of them fit into an answer. */
const MAX_BYTES = LIMITS.responseBodyBytes / 2;
const MAX_SHOWN_PATH = 600;
const MAX_QUOTED = 120;

/** All problems of a package, up to a number that always fits into an answer. */
export class ProblemList {
  readonly listed: PackageProblem[] = [];
  total = 0;
  #bytes = 0;

  add(problem: PackageProblem): void {
    this.total += 1;
    if (this.listed.length >= MAX_LISTED || this.#bytes >= MAX_BYTES) return;
    const { path } = problem;
    const shown = path === undefined ? problem : { ...problem, path: shorten(path, MAX_SHOWN_PATH) };
    this.#bytes += Buffer.byteLength(JSON.stringify(shown), 'utf8');
    this.listed.push(shown);
  }
}

/** A caller's text inside a message: escaped, well-formed and of bounded length. */
export function quote(text: string): string {
  return JSON.stringify(shorten(text, MAX_QUOTED));
}

function shorten(text: string, length: number): string {
  return text.length <= length ? text.toWellFormed() : `${text.slice(0, length).toWellFormed()}…`;
}

/** Line and column of an offset, both from 1; a column counts UTF-16 units, as editors do. */
export function positionAt(text: string, offset: number): { line: number; column: number } {
  let line = 1;
  let start = 0;
  for (let next = text.indexOf('\n'); next !== -1 && next < offset; next = text.indexOf('\n', start)) {
    line += 1;
    start = next + 1;
  }
  return { line, column: offset - start + 1 };
}
