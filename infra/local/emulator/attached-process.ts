/**
 * A process with a group of its own, so that it goes with all that it has started. Its standard input is a pipe that
 * closes when this process dies, whatever of: programs that are attached end themselves then.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

export interface AttachedProcess {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;
  readonly running: boolean;
  /** The last lines of what it has said, for messages about its failure. */
  tail(): string;
  /** SIGTERM, then SIGKILL to the group after a time of grace. */
  stop(): Promise<void>;
}

const TAIL_LENGTH = 4_000;
const GRACE_MS = 5_000;

export function startAttached(
  command: readonly [string, ...string[]],
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): AttachedProcess {
  const [program, ...args] = command;
  const child = spawn(program, args, { ...options, stdio: 'pipe', detached: true });
  let said = '';
  const hear = (chunk: unknown): void => {
    said = `${said}${chunk}`.slice(-TAIL_LENGTH);
  };
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  child.stdin.on('error', () => undefined);
  let running = true;
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      hear(error.message);
      running = false;
      resolve();
    });
    child.once('exit', () => {
      running = false;
      resolve();
    });
  });
  return {
    child,
    ended,
    get running() {
      return running;
    },
    tail: () => said,
    stop: async () => {
      child.kill('SIGTERM');
      const timer = setTimeout(() => signalGroup(child.pid), GRACE_MS);
      await ended;
      clearTimeout(timer);
      // What it started and did not wait for.
      signalGroup(child.pid);
    },
  };
}

function signalGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nobody of the group is left.
  }
}
