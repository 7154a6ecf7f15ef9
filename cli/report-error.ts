/** The one place where errors become lines or a document, and an exit code. */
import type { PackageProblem } from '../shared/contracts/error-codes.ts';
import { isCognitionError } from '../shared/domain/cognition-error.ts';
import { ApiError, TransportError } from './client/client-errors.ts';
import { API_FIXES, TRANSPORT_FIXES } from './error-fixes.ts';
import { CliFailure, EXIT } from './failure.ts';
import type { Line, Output } from './terminal/output.ts';

interface Report {
  readonly code: string;
  readonly message: string;
  readonly fix?: string | undefined;
  readonly status?: number;
  readonly request_id?: string | undefined;
  readonly problems?: readonly PackageProblem[];
  readonly errors?: readonly { pointer: string; message: string }[];
  readonly exitCode: number;
}

export function reportError(error: unknown, output: Output): number {
  const { exitCode, ...report } = describe(error);
  output.error({ error: report }, [headline(report), ...placesOf(report)]);
  return exitCode;
}

function describe(error: unknown): Report {
  if (error instanceof CliFailure) {
    return { code: error.code, message: error.message, fix: error.fix, exitCode: error.exitCode };
  }
  if (error instanceof ApiError) {
    const { code, message, status, problems, errors } = error;
    const fix = API_FIXES[code];
    return {
      code,
      message,
      fix,
      status,
      request_id: error.requestId,
      problems,
      errors,
      exitCode: EXIT.failure,
    };
  }
  if (error instanceof TransportError) {
    const fix = TRANSPORT_FIXES[error.code];
    const exitCode = error.code === 'refused_request' ? EXIT.usage : EXIT.failure;
    return { code: error.code, message: error.message, fix, exitCode };
  }
  if (isCognitionError(error)) {
    const { code, message, details } = error;
    return { code, message, fix: API_FIXES[code], problems: details.problems ?? [], exitCode: EXIT.failure };
  }
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'internal_error';
  return { code, message, exitCode: EXIT.failure };
}

function headline(report: Omit<Report, 'exitCode'>): Line {
  const fix = report.fix === undefined ? '' : `; ${report.fix}`;
  return [
    { text: 'cognition: ', style: 'red' },
    report.message,
    { text: ` [${report.code}]`, style: 'dim' },
    fix,
  ];
}

function placesOf(report: Omit<Report, 'exitCode'>): Line[] {
  const problems = (report.problems ?? []).map(problemLine);
  const errors = (report.errors ?? []).map(
    ({ pointer, message }): Line => [
      '  ',
      { text: pointer === '' ? '(body)' : pointer, style: 'bold' },
      ` ${message}`,
    ],
  );
  return [...problems, ...errors];
}

/** `SKILL.md:3:14: what [code]`, as editors and terminals link it. */
export function problemLine(problem: Omit<PackageProblem, 'code'> & { readonly code: string }): Line {
  const place = [problem.path, problem.line, problem.line === undefined ? undefined : problem.column]
    .filter((part) => part !== undefined)
    .join(':');
  return [
    '  ',
    { text: place === '' ? '(package)' : place, style: 'bold' },
    `: ${problem.message} `,
    { text: `[${problem.code}]`, style: 'dim' },
  ];
}
