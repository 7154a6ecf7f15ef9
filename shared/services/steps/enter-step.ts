import type { ManifestRow, RunRow } from '../../contracts/rows.ts';
import { RUN_STATUSES, type RunStatus } from '../../contracts/run.ts';
import type { RunRef } from '../../contracts/workflow.ts';
import { isFinalStatus } from '../../domain/run-transitions.ts';
import type { RunRecords } from '../records/run-records.ts';
import { refuseCancelled } from '../runs/refuse-cancelled.ts';

interface Deps {
  readonly runs: RunRecords;
}

/**
 * @returns undefined when the run is past this step, or has ended: the step did its work before, and its answer was
 *   lost.
 * @throws CognitionError `run_cancelled`
 */
export async function enterStep(
  { runs }: Deps,
  run: RunRef,
  first: RunStatus,
  last: RunStatus,
): Promise<RunRow | undefined> {
  const { row } = await runs.require(run);
  if (isFinalStatus(row.status)) return undefined;
  refuseCancelled(row);
  const at = RUN_STATUSES.indexOf(row.status);
  if (at > RUN_STATUSES.indexOf(last)) return undefined;
  if (at < RUN_STATUSES.indexOf(first)) {
    throw new Error(`run ${run.run_id} is ${row.status}, and this step begins at ${first}`);
  }
  return row;
}

export async function pinnedManifest({ runs }: Deps, row: RunRow): Promise<ManifestRow> {
  const pinned = await runs.getManifest(row);
  if (pinned === undefined) throw new Error(`the run ${row.run_id} is ${row.status} without a manifest`);
  return pinned;
}
