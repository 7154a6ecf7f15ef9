/** The whole environment of a command: what the sandbox sets, and what the profile lets a caller add. */
import { FORBIDDEN_ENV } from '../../../shared/contracts/forbidden-env.ts';
import { DaemonError } from '../daemon-error.ts';

export interface CommandPaths {
  readonly node_bin: string;
  readonly workspace: string;
  readonly outputs: string;
  readonly tmp: string;
  readonly egress_socket: string;
}

/** @throws DaemonError `bad_request` naming the variable. */
export function commandEnv(
  paths: CommandPaths,
  allowed: readonly string[],
  asked: Readonly<Record<string, string>>,
): Record<string, string> {
  for (const [name, value] of Object.entries(asked)) {
    if (!allowed.includes(name) || FORBIDDEN_ENV.test(name) || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      throw new DaemonError(
        'bad_request',
        `the sandbox profile does not let a caller set ${JSON.stringify(name)}`,
      );
    }
    if (value.includes('\0') || !value.isWellFormed()) {
      throw new DaemonError('bad_request', `the value of ${name} has a NUL or a lone surrogate`);
    }
  }
  return {
    ...asked,
    PATH: `${paths.node_bin}:/usr/bin:/bin`,
    HOME: paths.workspace,
    LANG: 'C.UTF-8',
    OUTPUT_DIR: paths.outputs,
    TMPDIR: paths.tmp,
    COGNITION_EGRESS_SOCKET: paths.egress_socket,
  };
}
