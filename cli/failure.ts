/** How the command ends when it does not succeed. docs/cli.md lists the codes. */
export const EXIT = {
  success: 0,
  failure: 1,
  usage: 2,
  /** As `timeout` does: the command of a run passed its deadline. */
  timedOut: 124,
  interrupted: 130,
  terminated: 143,
} as const;

export type FailureCode =
  | 'usage'
  | 'no_endpoint'
  | 'no_scope'
  | 'no_credentials'
  | 'unsafe_settings'
  | 'invalid_file'
  | 'invalid_package'
  | 'refused_path'
  | 'file_exists'
  | 'run_failed'
  | 'not_ready'
  | 'interrupted';

/** A failure in the CLI's own words: what was wrong and where, and what to do about it. */
export class CliFailure extends Error {
  override readonly name = 'CliFailure';
  readonly code: FailureCode;
  readonly fix: string | undefined;
  readonly exitCode: number;

  constructor(
    code: FailureCode,
    message: string,
    options: { fix?: string; cause?: unknown; exitCode?: number } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.fix = options.fix;
    this.exitCode = options.exitCode ?? (code === 'usage' ? EXIT.usage : EXIT.failure);
  }
}

export const usage = (message: string, fix?: string): CliFailure =>
  new CliFailure('usage', message, fix === undefined ? {} : { fix });
