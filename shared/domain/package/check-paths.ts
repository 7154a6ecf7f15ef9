/**
 * The path rules of a package. Each path is judged alone first, then all of them together as the tree that a
 * file system, one that folds case too, would have to hold.
 */
import type { PackageProblem } from '../../contracts/error-codes.ts';
import { LIMITS } from '../../contracts/limits.ts';
import { type ProblemList, quote } from './problem-list.ts';

type PathCode = PackageProblem['code'];

const RESERVED_DIRECTORY = '.cognition';

/** Equal for two names that a file system without case could take for one. A capital ẞ is SS only by way of ß. */
const fold = (path: string): string => path.toLowerCase().toUpperCase().toLowerCase();

/** Problems of one path by itself, which is in NFC already. */
export function checkPath(path: string, problems: ProblemList): void {
  const refuse = (code: PathCode, why: string): void =>
    problems.add({ code, path, message: `the path ${quote(path)} ${why}` });

  if (!path.isWellFormed()) {
    refuse('path_lone_surrogate', 'has half of a surrogate pair; use valid Unicode');
    return;
  }
  if (path === '') {
    refuse('path_empty', 'is empty; give each file a relative path such as "scripts/run.py"');
    return;
  }
  if (path.startsWith('/')) refuse('path_absolute', 'is absolute; remove the leading "/"');
  if (/^[A-Za-z]:/.test(path)) refuse('path_drive_letter', 'begins with a drive letter; use a relative path');
  if (path.includes('\\')) refuse('path_backslash', 'has a backslash; separate directories with "/"');
  if (/[\u0000-\u001f\u007f-\u009f]/.test(path)) {
    refuse('path_control_character', 'has a control character; remove it');
  }
  const bytes = Buffer.byteLength(path, 'utf8');
  if (bytes > LIMITS.pathBytes) {
    refuse('path_too_long', `is ${bytes} bytes of UTF-8 long; at most ${LIMITS.pathBytes} are allowed`);
  }
  checkSegments(path, refuse);
}

/** By patterns where a path may be megabytes long: split, it would be an array of millions. */
function checkSegments(path: string, refuse: (code: PathCode, why: string) => void): void {
  if (/.\/\/|^\/\/|.\/$/s.test(path)) {
    refuse('path_empty_segment', 'has "//" or ends in "/"; name a file in each path');
  }
  if (/(?:^|\/)\.{1,2}(?:\/|$)/.test(path)) {
    refuse('path_dot_segment', 'has "." or ".." as a segment; write the path without them');
  }
  const isLong = (segment: string): boolean => Buffer.byteLength(segment, 'utf8') > LIMITS.pathSegmentBytes;
  if (path.length <= LIMITS.pathBytes && path.split('/').some(isLong)) {
    refuse(
      'path_segment_too_long',
      `has a segment over ${LIMITS.pathSegmentBytes} bytes of UTF-8; shorten it`,
    );
  }
  const [first = ''] = path
    .slice(0, RESERVED_DIRECTORY.length + 2)
    .split('/')
    .filter(Boolean);
  if (fold(first) === RESERVED_DIRECTORY) {
    refuse(
      'path_reserved',
      `is below ${RESERVED_DIRECTORY}/, which belongs to the runtime; choose another directory`,
    );
  }
}

interface Node {
  readonly path: string;
  readonly kind: 'file' | 'directory';
}

/** Problems between paths, each in NFC. Paths beyond the length limit are left out: their trees are unbounded. */
export function checkTree(paths: Iterable<string>, problems: ProblemList): void {
  const nodes = new Map<string, Node>();
  const reported = new Set<string>();
  for (const path of paths) {
    if (path.length > LIMITS.pathBytes) continue;
    const clash = findClash(nodes, path);
    if (clash === undefined || reported.has(clash.at)) continue;
    // One report for a directory that clashes, not one for each file below it.
    if (clash.problem.code === 'path_case_collision') reported.add(clash.at);
    problems.add({ ...clash.problem, path });
  }
}

interface Clash {
  readonly at: string;
  readonly problem: PackageProblem;
}

function findClash(nodes: Map<string, Node>, path: string): Clash | undefined {
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
    const clash = place(nodes, { path: path.slice(0, slash), kind: 'directory' });
    if (clash !== undefined) return clash;
  }
  return place(nodes, { path, kind: 'file' });
}

function place(nodes: Map<string, Node>, node: Node): Clash | undefined {
  const key = fold(node.path);
  const other = nodes.get(key);
  if (other === undefined) {
    nodes.set(key, node);
    return undefined;
  }
  const problem = judge(node, other);
  return problem && { at: node.path, problem };
}

function judge(node: Node, other: Node): PackageProblem | undefined {
  const [path, otherPath] = [quote(node.path), quote(other.path)];
  if (node.path !== other.path) {
    return {
      code: 'path_case_collision',
      message: `${path} and ${otherPath} are the same name where upper and lower case are; rename one of them`,
    };
  }
  if (node.kind !== other.kind) {
    return {
      code: 'path_file_is_directory',
      message: `${path} is a file and also the directory of other files; rename one of them`,
    };
  }
  if (node.kind === 'directory') return undefined;
  return {
    code: 'path_duplicate',
    message: `two files are called ${path} once their names are in Unicode NFC; keep one of them`,
  };
}
