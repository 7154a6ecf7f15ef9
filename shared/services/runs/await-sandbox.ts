/** AwaitSandbox: asks the provider and then the daemon until one call's time is over. */
import { LIMITS } from '../../contracts/limits.ts';
import type { RunRow } from '../../contracts/rows.ts';
import type { RunRef, StepProgress } from '../../contracts/workflow.ts';
import { CognitionError } from '../../domain/cognition-error.ts';
import type { SandboxTask } from '../../ports/sandbox-provisioner.ts';
import { runExpiry } from '../records/run-records.ts';
import type { RunChange } from '../run-recorder.ts';
import { describeSandbox, isGone, type SandboxManagerDeps } from '../sandbox-manager.ts';
import { HEALTH_TIMEOUT_MS } from './launch-sandbox.ts';
import { refuseCancelled } from './refuse-cancelled.ts';

const POLL_MS = { first: 10, last: 1_000 } as const;

export async function awaitSandbox(deps: SandboxManagerDeps, run: RunRef): Promise<StepProgress> {
  const { sandboxes, client, clock, recorder, awaitBudgetMs = 20_000, stopping } = deps;
  const began = clock.now();
  for (;;) {
    const row = (await sandboxes.get(run))?.row;
    if (row === undefined || row.host !== null) return { status: 'done' };
    const task = await describeSandbox(deps, row);
    if (isGone(deps, task, row)) throw goneWhileLaunching(task);
    const address = task?.status === 'running' ? task.address : undefined;
    if (address !== undefined && (await client.healthy(address, HEALTH_TIMEOUT_MS))) {
      await recorder.record(run, (row) => becomeReady(deps, row, address));
      return { status: 'done' };
    }
    if (clock.now() - Date.parse(row.requested_at) > LIMITS.launchTimeoutSeconds * 1_000) {
      throw new CognitionError(
        'sandbox_unavailable',
        `the sandbox was not ready within ${LIMITS.launchTimeoutSeconds} seconds`,
      );
    }
    const waited = clock.now() - began;
    if (waited >= awaitBudgetMs || stopping?.aborted === true) return { status: 'pending' };
    // In step with the time waited so far: a local sandbox is seen at once, a Fargate task asked once a second.
    await clock.sleep(Math.min(POLL_MS.last, Math.max(POLL_MS.first, waited * 0.15)));
    refuseCancelled((await deps.runs.require(run)).row);
  }
}

async function becomeReady(
  { sandboxes, clock }: SandboxManagerDeps,
  run: RunRow,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<RunChange | undefined> {
  const stored = await sandboxes.get(run);
  if (stored === undefined || stored.row.host !== null) return undefined;
  return {
    moves: ['materializing'],
    set: { stage: 'materialize' },
    timings: { sandbox_ready_at: new Date(clock.now()).toISOString() },
    events: [{ type: 'sandbox.ready', stage: 'launch', data: { sandbox_id: stored.row.sandbox_id } }],
    writes: [
      sandboxes.write(run, { ...stored.row, host, port }, { version: stored.version }, runExpiry(run)),
    ],
  };
}

function goneWhileLaunching(task: SandboxTask | undefined): CognitionError {
  if (task?.status !== 'stopped') {
    return new CognitionError(
      'run_interrupted',
      'the sandbox was lost before it was ready; start the run again',
    );
  }
  const reason = task.stopped_reason === undefined ? '' : `: ${task.stopped_reason}`;
  return new CognitionError('sandbox_unavailable', `the sandbox stopped before it was ready${reason}`);
}
