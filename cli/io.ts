/** Everything a command may touch of the process it runs in, so that tests can give their own. */
import type { Readable, Writable } from 'node:stream';

export interface Terminal extends Writable {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export interface CliIo {
  /** Without `node` and the script. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Terminal;
  readonly stderr: Terminal;
  /** Calls the listener at every Ctrl-C or termination, until the returned function is called. */
  readonly onInterrupt: (listener: (signal: 'SIGINT' | 'SIGTERM') => void) => () => void;
  readonly fetch: typeof fetch;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}
