/** Teardown: the sandbox and its key go, whatever became of the run. */
import type { NewEvent } from '../../contracts/event.ts';
import type { SandboxRow } from '../../contracts/rows.ts';
import type { RunRef } from '../../contracts/workflow.ts';
import { isFinalStatus } from '../../domain/run-transitions.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { TableStore, Write } from '../../ports/table-store.ts';
import { type RunRecords, runExpiry } from '../records/run-records.ts';
import type { SandboxRecords } from '../records/sandbox-records.ts';
import type { RunRecorder } from '../run-recorder.ts';
import type { SandboxManager } from '../sandbox-manager.ts';

export interface TeardownDeps {
  readonly table: TableStore;
  readonly runs: RunRecords;
  readonly recorder: RunRecorder;
  readonly sandboxes: SandboxRecords;
  readonly manager: SandboxManager;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * A task that would not stop is an event and an error in the log, never a status; the reaper stops it later. A run
 * stays in the list of active ones until here, so that one that died before is found and torn down again.
 */
export async function tearDown(deps: TeardownDeps, run: RunRef): Promise<void> {
  const { table, runs, recorder, sandboxes, metrics } = deps;
  const sandbox = await sandboxes.get(run);
  const row = (await runs.get(run))?.row;
  const ended = row === undefined || isFinalStatus(row.status);
  const forget: Write[] = ended ? [runs.deleteActive(run.run_id)] : [];
  if (row === undefined || sandbox === undefined || sandbox.row.stopped) {
    if (forget.length > 0) await table.transact(forget);
    if (!ended) throw notEnded(run);
    return;
  }
  const { sandbox_id } = sandbox.row;
  const stopped = await stopSandbox(deps, run, sandbox_id);
  // Alone: who tears down may delete keys and nothing else with them, and IAM may judge a transaction by all its rows.
  await table.transact([sandboxes.deleteKey(sandbox_id)]);
  let told = false;
  await recorder.record(run, async (current) => {
    const stored = await sandboxes.get(run);
    told = stored !== undefined && !stored.row.stopped;
    if (stored === undefined || !told) return { writes: forget };
    const next: SandboxRow = { ...stored.row, stopped };
    return {
      events: [teardownEvent(next)],
      writes: [...forget, sandboxes.write(run, next, { version: stored.version }, runExpiry(current))],
    };
  });
  if (told) metrics.add({ name: stopped ? 'SandboxesStopped' : 'SandboxTeardownFailures' });
  if (!ended) throw notEnded(run);
}

/** RecordFailure must have failed for good: the execution fails too, so that what looks after those ends the run. */
const notEnded = ({ run_id }: RunRef): Error => new Error(`the run ${run_id} was torn down before it ended`);

async function stopSandbox(
  { manager, logger }: TeardownDeps,
  run: RunRef,
  sandboxId: string,
): Promise<boolean> {
  try {
    await manager.stop(run, 'the run has ended');
    return true;
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown';
    logger.error('sandbox.teardown_failed', { ...run, sandbox_id: sandboxId, reason });
    return false;
  }
}

function teardownEvent({ sandbox_id, stopped }: SandboxRow): NewEvent {
  return {
    type: stopped ? 'sandbox.stopped' : 'sandbox.teardown_failed',
    stage: 'teardown',
    data: { sandbox_id },
  };
}
