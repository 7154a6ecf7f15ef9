/** A started task until it is gone: who it is, how it ended, how to end it. */
import type { ChildProcess } from 'node:child_process';
import { type Readable, Stream } from 'node:stream';
import type { TaskProcess } from './task-runtime.ts';

/** Of what a task says in all its life; a sound one says a few lines. */
const READ_BYTES = 1024 * 1024;
const TAIL_BYTES = 4_096;

export interface Supervision {
  /** What bubblewrap says about itself. */
  readonly report: Readable | undefined;
  /**
   * Whose other end the daemon watches. bubblewrap's death takes the init along only once that has asked for it: one
   * that was killed between the two leaves a task which goes on by itself, and this ends it.
   */
  readonly lifeline: unknown;
  /** Without a namespace of its own a task is no more than a process group. */
  readonly kill_group: boolean;
  afterExit(): Promise<void>;
}

export function supervise(child: ChildProcess, options: Supervision): TaskProcess {
  let init: number | undefined;
  let alive = true;
  const tail = keepTail(child.stderr, () => alive);
  let text = '';
  options.report?.on('error', () => undefined);
  options.report?.on('data', (chunk: Buffer) => {
    text = (text + chunk.toString('latin1')).slice(0, TAIL_BYTES);
    init ??= Number(/"child-pid": (\d+)/.exec(text)?.[1] ?? Number.NaN) || undefined;
  });
  const exited = new Promise<{ code: number | null; signal: string | null; stderr_tail: string }>(
    (resolve) => {
      child.once('error', (error) => resolve({ code: null, signal: null, stderr_tail: error.message }));
      child.once('exit', (code, signal) => {
        alive = false;
        if (options.lifeline instanceof Stream.Duplex) options.lifeline.destroy();
        child.stderr?.resume();
        const end = (): void => resolve({ code, signal, stderr_tail: tail() });
        if (child.stderr === null || child.stderr.closed) end();
        else child.stderr.once('close', end);
      });
    },
  );
  const gone = exited.then(options.afterExit);
  gone.catch(() => undefined);
  return {
    pid: child.pid ?? 0,
    exited,
    kill: async () => {
      // The kernel kills all of a namespace with its init, and bubblewrap ends after that. Before it has said who
      // the init is, its own death takes the init along, or else the end of the lifeline does.
      if (alive && child.pid !== undefined) kill(options.kill_group ? -child.pid : (init ?? child.pid));
      await gone;
    },
  };
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** A daemon that has been taken over could keep this process busy with words: the rest waits for its end. */
function keepTail(stream: Readable | null, alive: () => boolean): () => string {
  let text = '';
  let read = 0;
  stream?.on('data', (chunk: Buffer) => {
    read += chunk.length;
    if (read > READ_BYTES && alive()) stream.pause();
    text = (text + chunk.toString('utf8')).slice(-TAIL_BYTES);
  });
  stream?.on('error', () => undefined);
  return () => text.trim();
}
