/** The one way a run ends: final status, failure and event, and what it held is given back, all in one transaction. */
import { type ErrorCode, errorCodeSchema } from '../../contracts/error-codes.ts';
import { type RunRow, slotRowSchema } from '../../contracts/rows.ts';
import type { RunFailure, RunStatus, Stage } from '../../contracts/run.ts';
import { TRANSIENT_ERROR } from '../../contracts/workflow.ts';
import { KEYS } from '../../domain/row-keys.ts';
import { isFinalStatus } from '../../domain/run-transitions.ts';
import type { Clock } from '../../ports/clock.ts';
import type { TableStore, Write } from '../../ports/table-store.ts';
import type { RunChange } from '../run-recorder.ts';
import type { RunRequestBlobs } from './run-request-blobs.ts';

export interface EndRunDeps {
  readonly table: TableStore;
  readonly requests: RunRequestBlobs;
  readonly clock: Clock;
}

/** As the machine caught it: `code` is the name of the error that a state ended with. */
export interface CaughtFailure {
  readonly code: string;
  readonly message: string;
}

/** @param caught undefined when every step went well. */
export async function endRun(
  deps: EndRunDeps,
  row: RunRow,
  caught: CaughtFailure | undefined,
): Promise<RunChange | undefined> {
  if (isFinalStatus(row.status)) return undefined;
  const failure = finalFailure(row, caught);
  const status = finalStatus(failure);
  const outranked = caught !== undefined && failure === row.failure;
  const stage = failure?.stage ?? 'finish';
  return {
    moves: [status],
    set: {
      stage,
      failure,
      slot: null,
      ...(outranked ? { warnings: [...row.warnings, `after that: ${toFailure(row, caught).message}`] } : {}),
    },
    timings: { finished_at: new Date(deps.clock.now()).toISOString() },
    events: [
      {
        type: `run.${status}`,
        stage,
        data: failure === null ? {} : { code: failure.code, message: failure.message },
      },
    ],
    writes: [...(await slotRelease(deps.table, row)), ...(await deps.requests.deletes(row))],
  };
}

/** What the script did outranks what went wrong after it, and a wish to cancel outranks both. */
function finalFailure(row: RunRow, caught: CaughtFailure | undefined): RunFailure | null {
  if (row.cancel_requested || caught?.code === 'run_cancelled') {
    return {
      code: 'run_cancelled',
      stage: currentStage(row, 'run_cancelled'),
      message: 'the run was cancelled',
    };
  }
  return row.failure ?? (caught === undefined ? null : toFailure(row, caught));
}

type FinalStatus = Extract<RunStatus, 'succeeded' | 'failed' | 'timed_out' | 'cancelled'>;

function finalStatus(failure: RunFailure | null): FinalStatus {
  if (failure === null) return 'succeeded';
  if (failure.code === 'run_cancelled') return 'cancelled';
  return failure.code === 'run_timed_out' ? 'timed_out' : 'failed';
}

/** When a step kept failing with what should pass, or ended with no word of ours: what that means where it was. */
const EXHAUSTED: Readonly<Record<Stage, { readonly code: ErrorCode; readonly message: string }>> = {
  queue: { code: 'internal_error', message: 'the run could not be pinned' },
  pin: { code: 'internal_error', message: 'the run could not be pinned' },
  launch: { code: 'sandbox_unavailable', message: 'no sandbox could be started in time' },
  materialize: { code: 'package_unavailable', message: 'the packages could not be brought into the sandbox' },
  execute: { code: 'run_interrupted', message: 'the sandbox did not answer while the command ran' },
  collect: { code: 'collection_failed', message: 'the sandbox did not answer while its outputs were read' },
  finish: { code: 'internal_error', message: 'the end of the run could not be recorded' },
  teardown: { code: 'internal_error', message: 'the end of the run could not be recorded' },
};

function toFailure(row: RunRow, { code, message }: CaughtFailure): RunFailure {
  const known = errorCodeSchema.safeParse(code);
  const stage = currentStage(row, code);
  if (known.success && known.data !== 'internal_error') return { code: known.data, stage, message };
  if (code === TRANSIENT_ERROR || code === 'States.Timeout') return { ...EXHAUSTED[stage], stage };
  return {
    code: 'internal_error',
    stage,
    message: 'a step of the run failed on our side; start the run again',
  };
}

const CODES_OF_PIN: ReadonlySet<string> = new Set([
  'agent_not_found',
  'skill_not_found',
  'skill_disabled',
  'script_not_found',
  'package_unavailable',
  'digest_mismatch',
  'not_found',
  'invalid_request',
] satisfies ErrorCode[]);

/** The step that was under way. A run is `pinned` from the middle of PinManifest until LaunchSandbox. */
function currentStage({ status, stage }: RunRow, code: string): Stage {
  switch (status) {
    case 'queued':
      return code === 'run_cancelled' || code === 'run_interrupted' ? 'queue' : 'pin';
    case 'pinned':
      return CODES_OF_PIN.has(code) ? 'pin' : 'launch';
    case 'launching':
      return 'launch';
    case 'materializing':
      return 'materialize';
    case 'running':
      return 'execute';
    default:
      return stage;
  }
}

/** The slot may be another run's by now, when this one outlived its lease. */
async function slotRelease(table: TableStore, { fingerprint, run_id, slot }: RunRow): Promise<Write[]> {
  if (slot === null) return [];
  const key = KEYS.slot(fingerprint, slot);
  const row = await table.get(key);
  if (row === undefined || slotRowSchema.parse(row.data).run_id !== run_id) return [];
  return [{ kind: 'delete', key, if: { version: row.version } }];
}
