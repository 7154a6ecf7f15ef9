import type { PackageProblem } from '../../contracts/error-codes.ts';

/** An answer with more problems than this helps nobody and could outgrow the response limit. */
const MAX_LISTED = 1_000;
const MAX_SHOWN_PATH = 600;
const MAX_QUOTED = 120;

/** All problems of a package, up to a number that always fits into an answer. */
export class ProblemList {
  readonly listed: PackageProblem[] = [];
  total = 0;

  add(problem: PackageProblem): void {
    this.total += 1;
    if (this.listed.length >= MAX_LISTED) return;
    const { path } = problem;
    this.listed.push(path === undefined ? problem : { ...problem, path: shorten(path, MAX_SHOWN_PATH) });
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
