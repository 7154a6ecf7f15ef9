/**
 * How commands get an identity of their own. One form of the sandbox is one driver: namespaces within namespaces where
 * they can be made, another user in a container, where they cannot.
 */

export interface CommandLimits {
  readonly max_processes: number;
  readonly max_open_files: number;
  readonly file_bytes: number;
  readonly memory_bytes: number;
}

export interface CommandSpec {
  /** Searched in PATH of `env`; never a shell's business. */
  readonly argv: readonly string[];
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Delivered exactly; undefined is end of file at once. */
  readonly stdin: Uint8Array | undefined;
}

/** `signal` is set when the kernel says so, never guessed from an exit code. */
export type CommandEnd =
  | { readonly kind: 'exited'; readonly code: number; readonly signal: number | undefined }
  /** The identity died with no word about the command: killed, or broken. */
  | { readonly kind: 'lost'; readonly reason: string };

/** An identity with nothing of a caller in it, waiting for its only command. */
export interface ReadyCommand {
  /** Read ends, as file descriptors that the caller owns from now on. */
  readonly stdout: number;
  readonly stderr: number;
  /** Resolves when every process of the identity is dead. Never rejects. */
  readonly ended: Promise<CommandEnd>;
  start(spec: CommandSpec): void;
  /** Kills every process of the identity, whatever it has become. */
  kill(): void;
}

export interface CommandDriver {
  /** @throws Error when the identity is not what it has to be; the sandbox must not be used then. */
  prepare(): Promise<ReadyCommand>;
}
