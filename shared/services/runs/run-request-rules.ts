/** What a request for a run must keep to beyond its shape: names, paths and globs, against the agent's profile. */
import picomatch from 'picomatch';
import { LIMITS } from '../../contracts/limits.ts';
import { type CreateRun, FORBIDDEN_ENV } from '../../contracts/run.ts';
import type { SandboxProfile } from '../../contracts/sandbox-profile.ts';
import { sizeText } from '../../contracts/size-text.ts';
import { CognitionError } from '../../domain/cognition-error.ts';

interface RequestProblem {
  readonly pointer: string;
  readonly message: string;
}

/** The options of every output glob: dot files count, and no syntax whose cost grows without bound is needed. */
export const GLOB_OPTIONS = { dot: true, noextglob: true, nonegate: true, strictSlashes: true } as const;

/** @throws CognitionError `invalid_request` with every problem. */
export function checkRunRequest(request: CreateRun, profile: SandboxProfile): void {
  const problems = [
    ...envProblems(request.env, profile),
    ...inputPathProblems(request.inputs.map(({ path }) => path)),
    ...(request.outputs ?? []).flatMap((glob, index) => globProblem(glob, `/outputs/${index}`)),
  ];
  const [first] = problems;
  if (first === undefined) return;
  throw new CognitionError('invalid_request', `${first.pointer}: ${first.message}`, { errors: problems });
}

/** `stdin_json` becomes the text that the command reads. */
export function withStdinText(request: CreateRun): CreateRun {
  const { stdin_json, ...rest } = request;
  if (stdin_json === undefined) return rest;
  const stdin = JSON.stringify(stdin_json);
  const size = Buffer.byteLength(stdin, 'utf8');
  if (size > LIMITS.stdinBytes || !stdin.isWellFormed()) {
    const message = `well-formed JSON of at most ${sizeText(LIMITS.stdinBytes)} as text; this is ${size} bytes`;
    throw new CognitionError('invalid_request', `/stdin_json: ${message}`, {
      errors: [{ pointer: '/stdin_json', message }],
    });
  }
  return { ...rest, stdin };
}

/** Why a path is no safe relative POSIX path, or undefined. */
export function relativePathProblem(path: string): string | undefined {
  if (!path.isWellFormed()) return 'the path has a lone surrogate';
  if (Buffer.byteLength(path, 'utf8') > LIMITS.pathBytes) {
    return `the path is longer than ${LIMITS.pathBytes} bytes`;
  }
  if (/[\u0000-\u001f\u007f]/.test(path)) return 'the path has a control character';
  if (path.includes('\\')) return 'the path has a backslash';
  const segments = path.split('/');
  if (segments.includes('')) return 'the path is absolute or has an empty segment';
  if (segments.includes('.') || segments.includes('..')) return 'the path has a segment "." or ".."';
  if (segments.some((segment) => Buffer.byteLength(segment, 'utf8') > LIMITS.pathSegmentBytes)) {
    return `the path has a segment longer than ${LIMITS.pathSegmentBytes} bytes`;
  }
  return undefined;
}

function envProblems(env: CreateRun['env'], profile: SandboxProfile): RequestProblem[] {
  return Object.keys(env).flatMap((name) => {
    const pointer = `/env/${name}`;
    if (FORBIDDEN_ENV.test(name)) return [{ pointer, message: `${name} can never be set by a caller` }];
    if (profile.env_names.includes(name)) return [];
    const allowed = profile.env_names.length === 0 ? 'none' : profile.env_names.join(', ');
    return [
      {
        pointer,
        message: `the sandbox profile "${profile.name}" allows these names and no others: ${allowed}`,
      },
    ];
  });
}

function inputPathProblems(paths: readonly string[]): RequestProblem[] {
  const seen = new Set<string>();
  return paths.flatMap((path, index) => {
    const pointer = `/inputs/${index}/path`;
    const problem = relativePathProblem(path);
    if (problem !== undefined) return [{ pointer, message: `${problem}; use a path relative to the inputs` }];
    if (seen.has(path)) return [{ pointer, message: 'another input has the same path' }];
    seen.add(path);
    const parent = paths.find((other) => path.startsWith(`${other}/`));
    return parent === undefined
      ? []
      : [{ pointer, message: `another input is the file ${JSON.stringify(parent)}, so it is no directory` }];
  });
}

function globProblem(glob: string, pointer: string): RequestProblem[] {
  const refuse = (message: string): RequestProblem[] => [{ pointer, message }];
  if (!glob.isWellFormed() || /[\u0000-\u001f\u007f\\]/.test(glob)) {
    return refuse('a glob has no control character, backslash or lone surrogate');
  }
  if (glob.startsWith('/'))
    return refuse('a glob is relative to the output directory, without a leading "/"');
  if (glob.split('/').some((segment) => segment === '..' || segment === '.')) {
    return refuse('a glob has no segment "." or ".."');
  }
  try {
    picomatch.makeRe(glob, GLOB_OPTIONS);
    return [];
  } catch {
    return refuse('this is not a glob');
  }
}
