/** Execute: starts the command once and turns what it writes into events and kept streams. */
import { constants } from 'node:os';
import type { ExecRequest, ExecStatus, StreamSlice } from '../../contracts/daemon.ts';
import type { NewEvent } from '../../contracts/event.ts';
import { LIMITS } from '../../contracts/limits.ts';
import { nameSchema, timeSchema } from '../../contracts/names.ts';
import type { RunRow } from '../../contracts/rows.ts';
import type { CreateRun, RunFailure } from '../../contracts/run.ts';
import type { StepProgress } from '../../contracts/workflow.ts';
import { CognitionError } from '../../domain/cognition-error.ts';
import type { Clock } from '../../ports/clock.ts';
import { type SandboxClient, type SandboxHandle, SandboxRefused } from '../../ports/sandbox-client.ts';
import type { RunRecords } from '../records/run-records.ts';
import type { RunChange, RunRecorder } from '../run-recorder.ts';
import { refuseCancelled } from './refuse-cancelled.ts';
import { decodeLossy, type RunStreams, type StreamName, splitText } from './run-streams.ts';

export interface ExecuteCommandDeps {
  readonly runs: RunRecords;
  readonly recorder: RunRecorder;
  readonly streams: RunStreams;
  readonly client: SandboxClient;
  readonly clock: Clock;
  /** How long one Execute call may take, in milliseconds; default 40,000. */
  readonly executeBudgetMs?: number;
  readonly stopping?: AbortSignal;
}

/** A command that ends within this writes one transaction. */
const FIRST_FLUSH_MS = 300;
const FLUSH_MS = 1_000;
/** Recorded at once even before its time, so that a transaction stays small. */
const FLUSH_BYTES = 64 * 1024;
/** Beyond the daemon's own deadline: a daemon that never says "exited" is lying. */
const DEADLINE_MARGIN_MS = 20_000;
const QUICK_POLLS = 8;
const POLL_PAUSE_MS = 50;
/** A daemon with more to give fills its slices; one that gives less is asked no more often than a quiet one. */
const CRUMB_BYTES = 16 * 1024;
const EGRESS_EVENTS = 20;

interface Pending {
  readonly stdout: Uint8Array[];
  readonly stderr: Uint8Array[];
  stdoutOffset: number;
  stderrOffset: number;
}

export async function executeCommand(
  deps: ExecuteCommandDeps,
  run: RunRow,
  sandbox: SandboxHandle,
  request: CreateRun,
): Promise<StepProgress> {
  const { client, clock, recorder, executeBudgetMs = 40_000, stopping } = deps;
  const began = clock.now();
  const startedAt = run.timings.started_at ?? new Date(began).toISOString();
  const deadline = Date.parse(startedAt) + request.timeout_seconds * 1_000 + DEADLINE_MARGIN_MS;
  if (run.timings.started_at === null) await client.exec(sandbox, run.run_id, execRequest(request));
  let row = run;
  let pending = nothingPending(row);
  let flushAt = began + (run.timings.started_at === null ? FIRST_FLUSH_MS : FLUSH_MS);
  let drained = true;
  for (let polls = 0; ; polls += 1) {
    const status = await client.execStatus(sandbox, run.run_id, {
      wait_ms: drained ? Math.max(0, flushAt - clock.now()) : 0,
      stdout_offset: pending.stdoutOffset,
      stderr_offset: pending.stderrOffset,
    });
    const taken = take(pending, 'stdout', status.stdout) + take(pending, 'stderr', status.stderr);
    drained = pending.stdoutOffset >= status.stdout.length && pending.stderrOffset >= status.stderr.length;
    const exited = status.state === 'exited' && drained;
    const now = clock.now();
    if (exited || now >= flushAt || pendingBytes(pending) >= FLUSH_BYTES) {
      const flushed = pending;
      const from = row;
      row = await recorder.record(run, (current) =>
        progressChange(deps, current, from, { startedAt, flushed, status, exited, request, now }),
      );
      pending = nothingPending(row);
      flushAt = now + FLUSH_MS;
    }
    if (exited || row.status !== 'running') return { status: 'done' };
    if (now > deadline) throw new CognitionError('run_timed_out', timedOut(request));
    refuseCancelled((await deps.runs.require(run)).row);
    if (now - began >= executeBudgetMs || stopping?.aborted === true) return { status: 'pending' };
    if ((drained || taken < CRUMB_BYTES) && polls >= QUICK_POLLS) await clock.sleep(POLL_PAUSE_MS);
  }
}

function execRequest({ command, stdin, env, timeout_seconds }: CreateRun): ExecRequest {
  return {
    command,
    ...(stdin === undefined ? {} : { stdin: Buffer.from(stdin, 'utf8').toString('base64') }),
    env,
    timeout_ms: timeout_seconds * 1_000,
    stream_bytes: LIMITS.streamBytes,
  };
}

function nothingPending({ progress }: RunRow): Pending {
  return {
    stdout: [],
    stderr: [],
    stdoutOffset: progress.stdout_offset,
    stderrOffset: progress.stderr_offset,
  };
}

const pendingBytes = ({ stdout, stderr }: Pending): number =>
  [...stdout, ...stderr].reduce((sum, bytes) => sum + bytes.byteLength, 0);

/**
 * @returns the number of bytes.
 * @throws SandboxRefused for a slice that does not go on where the last one ended: the daemon may be hostile.
 */
function take(pending: Pending, stream: StreamName, slice: StreamSlice): number {
  const bytes = Buffer.from(slice.data, 'base64');
  const offset = stream === 'stdout' ? pending.stdoutOffset : pending.stderrOffset;
  const fits =
    slice.next_offset === offset + bytes.length &&
    slice.next_offset <= slice.length &&
    slice.length <= LIMITS.streamBytes &&
    (bytes.length > 0 || slice.next_offset === slice.length);
  if (!fits) throw new SandboxRefused('protocol', `the sandbox gave a slice of ${stream} that does not fit`);
  if (bytes.length > 0) pending[stream].push(bytes);
  if (stream === 'stdout') pending.stdoutOffset = slice.next_offset;
  else pending.stderrOffset = slice.next_offset;
  return bytes.length;
}

interface Flush {
  readonly startedAt: string;
  readonly flushed: Pending;
  readonly status: ExecStatus;
  readonly exited: boolean;
  readonly request: CreateRun;
  readonly now: number;
}

function progressChange(
  { streams }: ExecuteCommandDeps,
  row: RunRow,
  from: RunRow,
  { startedAt, flushed, status, exited, request, now }: Flush,
): RunChange | undefined {
  // Not where this output began: another attempt was faster, or the answer to our own transaction was lost.
  const behind =
    row.status !== 'running' ||
    row.progress.stdout_offset !== from.progress.stdout_offset ||
    row.progress.stderr_offset !== from.progress.stderr_offset;
  if (behind) return undefined;
  const starts = row.timings.started_at === null;
  const output = (['stdout', 'stderr'] as const).map((stream) => ({
    stream,
    bytes: Buffer.concat(flushed[stream]),
    offset: row.progress[`${stream}_offset`],
  }));
  const denied = status.egress_denied.slice(row.progress.egress_denied, EGRESS_EVENTS);
  const events: NewEvent[] = [
    ...(starts ? [startedEvent(request)] : []),
    ...output.flatMap(({ stream, bytes }) => outputEvents(stream, bytes)),
    ...denied.map(egressEvent),
    ...(exited ? [exitedEvent(status)] : []),
  ];
  if (events.length === 0) return undefined;
  return {
    ...(exited ? { moves: ['collecting'] } : {}),
    set: {
      progress: {
        stdout_offset: flushed.stdoutOffset,
        stderr_offset: flushed.stderrOffset,
        egress_denied: row.progress.egress_denied + denied.length,
      },
      stdout_truncated: status.stdout.truncated,
      stderr_truncated: status.stderr.truncated,
      ...(exited ? outcome(status, request) : {}),
    },
    timings: {
      ...(starts ? { started_at: startedAt } : {}),
      ...(exited ? { exited_at: new Date(now).toISOString() } : {}),
    },
    events,
    writes: output
      .filter(({ bytes }) => bytes.length > 0)
      .map(({ stream, bytes, offset }) => streams.append(row, stream, offset, bytes)),
  };
}

function startedEvent({ command, timeout_seconds }: CreateRun): NewEvent {
  const what = 'skill' in command ? { skill: command.skill, script: command.script } : {};
  return { type: 'command.started', stage: 'execute', data: { ...what, timeout_seconds } };
}

function outputEvents(stream: StreamName, bytes: Uint8Array): NewEvent[] {
  return splitText(decodeLossy(bytes), LIMITS.eventOutputBytes).map((text) => ({
    type: 'command.output',
    stage: 'execute',
    data: { stream, text },
  }));
}

/** Both are the claim of a task that may be hostile. */
function egressEvent({ alias, at }: ExecStatus['egress_denied'][number]): NewEvent {
  const named = nameSchema.safeParse(alias);
  const timed = timeSchema.safeParse(at);
  return {
    type: 'egress.denied',
    stage: 'execute',
    data: { alias: named.success ? named.data : '?', at: timed.success ? timed.data.slice(0, 40) : '?' },
  };
}

function exitedEvent(status: ExecStatus): NewEvent {
  const { timed_out, egress_denied_total } = status;
  return {
    type: 'command.exited',
    stage: 'execute',
    data: { ...exit(status), timed_out, egress_denied_total },
  };
}

/** A signal's exit code is 128 and its number, as a shell says it. */
function exit({ exit_code, signal }: ExecStatus): { exit_code: number; signal: string | null } {
  const known = Object.entries(constants.signals).find(([name]) => name === signal);
  return { exit_code: exit_code ?? 128 + (known?.[1] ?? 0), signal: known?.[0] ?? null };
}

function outcome(status: ExecStatus, request: CreateRun): RunChange['set'] {
  const { exit_code, signal } = exit(status);
  const failure = (code: RunFailure['code'], message: string): { failure: RunFailure } => ({
    failure: { code, stage: 'execute', message },
  });
  return {
    stage: 'collect',
    exit_code,
    signal,
    ...(status.timed_out ? failure('run_timed_out', timedOut(request)) : {}),
    ...(!status.timed_out && exit_code !== 0
      ? failure(
          'script_failed',
          signal === null ? `the command exited with ${exit_code}` : `the command was ended by ${signal}`,
        )
      : {}),
  };
}

const timedOut = ({ timeout_seconds }: CreateRun): string =>
  `the command did not end within ${timeout_seconds} seconds and was killed; raise timeout_seconds or make it faster`;
