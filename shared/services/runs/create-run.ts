import { LIMITS } from '../../contracts/limits.ts';
import { type RunRow, type SlotRow, slotRowSchema } from '../../contracts/rows.ts';
import { type CreateRun, type Run, runSchema } from '../../contracts/run.ts';
import { sizeText } from '../../contracts/size-text.ts';
import { CognitionError } from '../../domain/cognition-error.ts';
import { KEYS } from '../../domain/row-keys.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import type { Logger } from '../../ports/logger.ts';
import type { RunOrchestrator } from '../../ports/run-orchestrator.ts';
import { ConditionFailed, type Row, type TableStore, type Write } from '../../ports/table-store.ts';
import type { CommitWith } from '../commit-with.ts';
import type { InputArtifacts } from '../input-artifacts.ts';
import type { EventRecords } from '../records/event-records.ts';
import { readAll } from '../records/read-all.ts';
import { type RunRecords, runExpiry } from '../records/run-records.ts';
import { retryConflicts } from '../retry-conflicts.ts';
import type { RunSkillResolver } from '../run-skill-resolver.ts';
import { runDeadlineSeconds } from './run-deadline.ts';
import type { RunRequestBlobs } from './run-request-blobs.ts';
import { checkRunRequest, withStdinText } from './run-request-rules.ts';

export interface CreateRunDeps {
  readonly table: TableStore;
  readonly runs: RunRecords;
  readonly events: EventRecords;
  readonly requests: RunRequestBlobs;
  readonly inputs: Pick<InputArtifacts, 'describe'>;
  readonly resolver: RunSkillResolver;
  readonly orchestrator: RunOrchestrator;
  readonly clock: Clock;
  readonly ids: Ids;
  /** In [0, 1). */
  readonly random: () => number;
  readonly logger: Logger;
  readonly quotas: {
    /** Of one scope, queued ones included. */
    readonly runs_at_once: number;
  };
}

const SLOT_GUESSES = 3;
const RETRY_AFTER_SECONDS = 5;

export async function createRun(
  deps: CreateRunDeps,
  fingerprint: string,
  asked: CreateRun,
  commitWith: CommitWith<Run>,
): Promise<Run> {
  const request = withStdinText(asked);
  const { profile } = await deps.resolver.resolve(fingerprint, request);
  checkRunRequest(request, profile);
  await checkInputs(deps, fingerprint, request);
  const row = await commit(deps, queuedRun(deps, fingerprint, request), request, commitWith);
  try {
    await deps.orchestrator.start({ fingerprint, run_id: row.run_id });
  } catch (error) {
    // The run is stored and in the list of active ones, so the sweeper starts it.
    const reason = error instanceof Error ? error.message : 'unknown';
    deps.logger.warn('run.start_failed', { fingerprint, run_id: row.run_id, reason });
  }
  return toNewRun(row);
}

async function checkInputs(
  { inputs }: CreateRunDeps,
  fingerprint: string,
  request: CreateRun,
): Promise<void> {
  const artifacts = await inputs.describe(
    fingerprint,
    request.inputs.map(({ artifact_id }) => artifact_id),
  );
  const total = artifacts.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
  if (total > LIMITS.inputBytes) {
    throw new CognitionError(
      'body_too_large',
      `the inputs are ${total} bytes together; at most ${sizeText(LIMITS.inputBytes)} are allowed`,
    );
  }
}

function queuedRun({ ids, clock }: CreateRunDeps, fingerprint: string, request: CreateRun): RunRow {
  return {
    run_id: ids.next(),
    fingerprint,
    agent: request.agent,
    status: 'queued',
    stage: 'queue',
    cancel_requested: false,
    exit_code: null,
    signal: null,
    stdout_truncated: false,
    stderr_truncated: false,
    failure: null,
    warnings: [],
    manifest_digest: null,
    artifact_count: 0,
    timings: {
      queued_at: new Date(clock.now()).toISOString(),
      pinned_at: null,
      sandbox_ready_at: null,
      sealed_at: null,
      started_at: null,
      exited_at: null,
      finished_at: null,
    },
    last_sequence: 1,
    slot: null,
    timeout_seconds: request.timeout_seconds,
    progress: { stdout_offset: 0, stderr_offset: 0, egress_denied: 0 },
  };
}

const toNewRun = (row: RunRow): Run => runSchema.parse({ ...row, stdout: '', stderr: '' });

/** Where the run itself is among the writes; the slot comes before it, the caller's writes come last. */
const RUN_WRITE = 1;

/** Run, first event, slot, request and the caller's own writes: all of them or none. */
async function commit(
  deps: CreateRunDeps,
  queued: RunRow,
  request: CreateRun,
  commitWith: CommitWith<Run>,
): Promise<RunRow> {
  let inDoubt = false;
  // A condition of the caller's writes is an answer, not a race, so it leaves the loop as a value.
  const outcome = await retryConflicts(deps, 'the list of runs', async () => {
    const stored = inDoubt ? await deps.runs.get(queued) : undefined;
    if (stored !== undefined) return stored.row;
    const slot = await freeSlot(deps, queued);
    const row: RunRow = { ...queued, slot: slot.number };
    try {
      await deps.table.transact([...runWrites(deps, row, slot, request), ...commitWith(toNewRun(row))]);
      return row;
    } catch (error) {
      const failed = error instanceof ConditionFailed ? error.failed : [RUN_WRITE];
      if (!failed.some((index) => index <= RUN_WRITE)) return new ConditionFailed(failed, { cause: error });
      // Our own run was there, or the answer was lost: it may be stored.
      inDoubt ||= failed.includes(RUN_WRITE);
      throw error;
    }
  });
  if (outcome instanceof Error) throw outcome;
  return outcome;
}

function runWrites(deps: CreateRunDeps, row: RunRow, slot: Slot, request: CreateRun): Write[] {
  const { runs, events, requests } = deps;
  const data = { agent: row.agent, timeout_seconds: row.timeout_seconds };
  return [
    slot.write,
    runs.write(row, { absent: true }),
    runs.writeActive(row),
    events.append(row, 1, row.timings.queued_at, { type: 'run.queued', stage: 'queue', data }),
    ...requests.writes(row, request, runExpiry(row)),
  ];
}

interface Slot {
  readonly number: number;
  readonly write: Write;
}

/** A slot is leased, so that one whose run was lost comes back by itself. */
async function freeSlot(
  deps: CreateRunDeps,
  { fingerprint, run_id, timeout_seconds }: RunRow,
): Promise<Slot> {
  const { clock } = deps;
  const { number, taken } = (await guessSlot(deps, fingerprint)) ?? (await searchSlot(deps, fingerprint));
  const until = clock.now() + runDeadlineSeconds(timeout_seconds) * 1_000;
  return {
    number,
    write: {
      kind: 'put',
      key: KEYS.slot(fingerprint, number),
      data: { run_id, lease_until: new Date(until).toISOString() } satisfies SlotRow,
      expires_at: Math.ceil(until / 1_000),
      if: taken === undefined ? { absent: true } : { version: taken.version },
    },
  };
}

interface FoundSlot {
  readonly number: number;
  /** The row of a lease that is over. */
  readonly taken: Row | undefined;
}

/** While a scope is far from its quota any slot is most likely free, and no list of them has to be read. */
async function guessSlot(deps: CreateRunDeps, fingerprint: string): Promise<FoundSlot | undefined> {
  const { table, clock, quotas, random } = deps;
  for (let guess = 0; guess < SLOT_GUESSES; guess += 1) {
    const number = Math.floor(random() * quotas.runs_at_once);
    const taken = await table.get(KEYS.slot(fingerprint, number));
    if (isFree(taken, clock.now())) return { number, taken };
  }
  return undefined;
}

/** Any free one: runs that start at once would all want the first. @throws CognitionError `quota_exceeded` */
async function searchSlot(deps: CreateRunDeps, fingerprint: string): Promise<FoundSlot> {
  const { table, clock, quotas, random } = deps;
  const rows = new Map((await readAll(table, KEYS.slots(fingerprint))).map((row) => [row.sk, row]));
  const takenAt = (number: number): Row | undefined => rows.get(KEYS.slot(fingerprint, number).sk);
  const free = Array.from({ length: quotas.runs_at_once }, (_, number) => number).filter((number) =>
    isFree(takenAt(number), clock.now()),
  );
  const number = free[Math.floor(random() * free.length)];
  if (number === undefined) throw quotaExceeded(deps);
  return { number, taken: takenAt(number) };
}

const isFree = (row: Row | undefined, now: number): boolean =>
  row === undefined || Date.parse(slotRowSchema.parse(row.data).lease_until) <= now;

function quotaExceeded({ quotas }: CreateRunDeps): CognitionError {
  return new CognitionError(
    'quota_exceeded',
    `this scope has ${quotas.runs_at_once} runs under way, which is its quota; wait for one to end`,
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}
