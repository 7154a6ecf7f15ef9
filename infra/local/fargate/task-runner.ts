/**
 * Runs tasks: at most so many at once, the rest wait in order of arrival. Each goes PROVISIONING, PENDING,
 * RUNNING, STOPPED and holds its listener and process in one function, which gives both back.
 */
import type { Clock } from '../../../shared/ports/clock.ts';
import type { Logger } from '../../../shared/ports/logger.ts';
import type { TaskProcess, TaskRuntime } from './task/task-runtime.ts';
import { awaitHealth } from './task-health.ts';
import type { TaskListener, TaskListeners } from './task-listeners.ts';
import type { StopCode, TaskRecord, TaskStatus } from './task-record.ts';

const KILL_ATTEMPTS = 3;
const KILL_PAUSE_MS = 200;
/** A daemon that fails its first call is mostly about to end; how it ends says more. */
const LAST_WORDS_MS = 500;

export interface TaskRunnerOptions {
  readonly runtime: TaskRuntime;
  readonly listeners: TaskListeners;
  readonly max_tasks: number;
  /** Starts at the same time; more of them on few cores only make each one slower. */
  readonly max_starting: number;
  readonly start_timeout_ms: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onStopped: (record: TaskRecord) => void;
}

export interface TaskRunner {
  submit(record: TaskRecord, env: Readonly<Record<string, string>>): void;
  /** Returns at once; the task is STOPPED when its process is dead. */
  stop(record: TaskRecord, reason: string): void;
  counts(): { running: number; starting: number; queued: number };
  /** Kills every task and waits for that. */
  close(): Promise<void>;
}

interface Ending {
  readonly code: StopCode;
  readonly reason: string;
  readonly exit_code?: number;
}

interface LiveTask {
  readonly env: Readonly<Record<string, string>>;
  /** Resolved by whatever ends the task first. */
  readonly ended: PromiseWithResolvers<Ending>;
}

export function createTaskRunner(options: TaskRunnerOptions): TaskRunner {
  const queue = new Map<TaskRecord, LiveTask>();
  const active = new Map<TaskRecord, { task: LiveTask; done: Promise<void> }>();
  let starting = 0;
  let closed = false;

  const finish = (record: TaskRecord, ending: Ending): void => {
    record.desired = 'STOPPED';
    record.stop_code ??= ending.code;
    record.stopped_reason ??= ending.reason;
    if (ending.exit_code !== undefined) record.exit_code = ending.exit_code;
    record.stopped_at = options.clock.now();
    setStatus(record, 'STOPPED');
    options.onStopped(record);
  };

  const run = async (record: TaskRecord, task: LiveTask): Promise<void> => {
    starting += 1;
    let counted = true;
    const started = (): void => {
      if (counted) starting -= 1;
      counted = false;
      pump();
    };
    const ending = await liveTask(options, record, task, started);
    active.delete(record);
    finish(record, ending);
    started();
  };

  const pump = (): void => {
    for (const [record, task] of queue) {
      if (closed || active.size >= options.max_tasks || starting >= options.max_starting) return;
      queue.delete(record);
      // `active` counts the task before anything of it runs.
      const entry = { task, done: Promise.resolve() };
      active.set(record, entry);
      entry.done = run(record, task);
    }
  };

  const stop = (record: TaskRecord, reason: string): void => {
    if (record.desired === 'STOPPED') return;
    record.desired = 'STOPPED';
    record.stop_code = 'UserInitiated';
    record.stopped_reason = reason;
    record.stopping_at = options.clock.now();
    const ending: Ending = { code: 'UserInitiated', reason };
    if (queue.delete(record)) finish(record, ending);
    else active.get(record)?.task.ended.resolve(ending);
  };

  return {
    submit: (record, env) => {
      queue.set(record, { env, ended: Promise.withResolvers() });
      pump();
    },
    stop,
    counts: () => ({ running: active.size - starting, starting, queued: queue.size }),
    close: async () => {
      closed = true;
      for (const record of [...queue.keys(), ...active.keys()]) stop(record, 'the server was closed');
      await Promise.all([...active.values()].map((entry) => entry.done));
    },
  };
}

function setStatus(record: TaskRecord, status: TaskStatus): void {
  record.status = status;
  for (const watcher of record.watchers) watcher();
  record.watchers.clear();
}

/** From start to death; never throws. `started` is called when the task no longer counts as starting. */
async function liveTask(
  options: TaskRunnerOptions,
  record: TaskRecord,
  task: LiveTask,
  started: () => void,
): Promise<Ending> {
  let listener: TaskListener | undefined;
  let process: TaskProcess | undefined;
  try {
    setStatus(record, 'PENDING');
    listener = await options.listeners.open();
    process = await options.runtime.start(task.env, record.profile, listener.server);
    watchExit(options, record, task, process);
    const early = await untilHealthy(options, record, task, listener);
    if (early !== undefined) return early;
    record.address = { host: listener.host, port: listener.port };
    record.started_at = options.clock.now();
    setStatus(record, 'RUNNING');
    started();
    return await task.ended.promise;
  } catch (cause) {
    options.log.warn('sandbox task did not start', { sandbox_id: record.sandbox_id, cause: String(cause) });
    const reason = cause instanceof Error ? cause.message : String(cause);
    return { code: 'TaskFailedToStart', reason: `the task could not be started: ${reason}` };
  } finally {
    setStatus(record, 'STOPPING');
    listener?.close();
    if (process !== undefined) await kill(options, record, process);
  }
}

/** Returns what ended the task when something did before the daemon answered. */
async function untilHealthy(
  options: TaskRunnerOptions,
  record: TaskRecord,
  task: LiveTask,
  listener: TaskListener,
): Promise<Ending | undefined> {
  const healthy = awaitHealth(listener, record.sandbox_id, options.start_timeout_ms);
  try {
    return (await Promise.race([healthy, task.ended.promise])) ?? undefined;
  } catch (failure) {
    const lastWords = new AbortController();
    const silence = options.clock.sleep(LAST_WORDS_MS, lastWords.signal).then(
      () => undefined,
      () => undefined,
    );
    const ending = await Promise.race([task.ended.promise, silence]);
    lastWords.abort();
    if (ending === undefined) throw failure;
    return ending;
  }
}

/** Rejections of `exited` cannot be: the runtime reports every end as a value. */
function watchExit(
  options: TaskRunnerOptions,
  record: TaskRecord,
  task: LiveTask,
  process: TaskProcess,
): void {
  void process.exited.then(({ code, signal, stderr_tail }) => {
    if (record.desired === 'RUNNING') {
      const fields = { sandbox_id: record.sandbox_id, code, signal, stderr_tail };
      options.log.warn('sandbox daemon exited by itself', fields);
    }
    const reason = `the sandbox daemon ended ${signal === null ? `with code ${code}` : `by ${signal}`}`;
    const ending: Ending = { code: 'EssentialContainerExited', reason };
    task.ended.resolve(code === null ? ending : { ...ending, exit_code: code });
  });
}

async function kill(options: TaskRunnerOptions, record: TaskRecord, process: TaskProcess): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await process.kill();
    } catch (cause) {
      const fields = { sandbox_id: record.sandbox_id, pid: process.pid, attempt, cause: String(cause) };
      options.log.error('sandbox task could not be killed', fields);
      if (attempt === KILL_ATTEMPTS) return;
      await options.clock.sleep(KILL_PAUSE_MS);
    }
  }
}
