/** The one command of a sandbox, from start to the death of everything it has started. */
import { constants } from 'node:os';
import type { ExecRequest, ExecStatus } from '../../../shared/contracts/daemon.ts';
import { LIMITS } from '../../../shared/contracts/limits.ts';
import type { EgressAttempts } from '../egress-broker.ts';
import type { CommandEnd, CommandSpec, ReadyCommand } from './command-driver.ts';
import { captureStream, type StreamCapture } from './stream-capture.ts';

const SIGKILL_EXIT_CODE = 137;
const DRAIN_MS = 5_000;

export interface ExecStatusQuery {
  readonly wait_ms: number;
  readonly stdout_offset: number;
  readonly stderr_offset: number;
}

export interface Execution {
  readonly exec_id: string;
  /** Resolves when no process is left and both streams have been read to their end. */
  readonly exited: Promise<void>;
  /** Answers when there is output behind the offsets, when the command has ended, or when the wait is over. */
  status(query: ExecStatusQuery): Promise<ExecStatus>;
}

export interface ExecutionOptions {
  readonly exec_id: string;
  readonly ready: ReadyCommand;
  readonly spec: CommandSpec;
  readonly timeout_ms: ExecRequest['timeout_ms'];
  readonly stream_bytes: ExecRequest['stream_bytes'];
  readonly egress: EgressAttempts;
}

export function startExecution(options: ExecutionOptions): Execution {
  const { ready } = options;
  const waiting = new Set<() => void>();
  const wake = (): void => {
    for (const waiter of [...waiting]) waiter();
  };
  let end: CommandEnd | undefined;
  let timedOut = false;
  const stdout = captureStream(ready.stdout, options.stream_bytes, wake);
  const stderr = captureStream(ready.stderr, options.stream_bytes, wake);
  const deadline = setTimeout(() => {
    timedOut = true;
    ready.kill();
  }, options.timeout_ms);
  const exited = ready.ended.then(async (result) => {
    clearTimeout(deadline);
    await drained([stdout, stderr]);
    end = result;
    wake();
  });
  ready.start(options.spec);

  const hasNews = (query: ExecStatusQuery): boolean =>
    end !== undefined || hasMore(stdout, query.stdout_offset) || hasMore(stderr, query.stderr_offset);
  return {
    exec_id: options.exec_id,
    exited,
    status: async (query) => {
      if (!hasNews(query)) await waitFor(waiting, () => hasNews(query), query.wait_ms);
      return {
        exec_id: options.exec_id,
        state: end === undefined ? 'running' : 'exited',
        ...endFields(end, timedOut),
        stdout: sliceOf(stdout, query.stdout_offset),
        stderr: sliceOf(stderr, query.stderr_offset),
        egress_denied: [...options.egress.kept()],
        egress_denied_total: options.egress.total(),
      };
    },
  };
}

/** With every writer dead this is what the pipes still hold; only without isolation can a writer live on. */
async function drained(streams: readonly StreamCapture[]): Promise<void> {
  const timer = setTimeout(() => {
    for (const stream of streams) stream.close();
  }, DRAIN_MS);
  await Promise.all(streams.map((stream) => stream.ended));
  clearTimeout(timer);
}

const hasMore = (stream: StreamCapture, offset: number): boolean =>
  stream.slice(offset, LIMITS.eventOutputBytes).data.length > 0;

function sliceOf(stream: StreamCapture, offset: number): ExecStatus['stdout'] {
  const slice = stream.slice(offset, LIMITS.eventOutputBytes);
  return { ...slice, data: slice.data.toString('base64') };
}

/** A command that its deadline or its sandbox has killed died of SIGKILL, whatever it was about to say. */
function endFields(
  end: CommandEnd | undefined,
  timedOut: boolean,
): Pick<ExecStatus, 'exit_code' | 'signal' | 'timed_out'> {
  if (end === undefined) return { exit_code: null, signal: null, timed_out: timedOut };
  if (end.kind === 'lost') return { exit_code: SIGKILL_EXIT_CODE, signal: 'SIGKILL', timed_out: timedOut };
  const signal = end.signal === undefined ? null : signalName(end.signal);
  return { exit_code: end.code, signal, timed_out: timedOut };
}

const signalName = (number: number): string =>
  Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `SIG${number}`;

function waitFor(waiting: Set<() => void>, holds: () => boolean, limitMs: number): Promise<void> {
  if (limitMs <= 0) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      waiting.delete(check);
      resolve();
    };
    const check = (): void => {
      if (holds()) done();
    };
    const timer = setTimeout(done, limitMs);
    waiting.add(check);
  });
}
