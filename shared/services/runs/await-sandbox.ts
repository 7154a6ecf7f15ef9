/** AwaitSandbox: asks the provider and then the daemon until one call's time is over. */
import { LIMITS } from '../../contracts/limits.ts';
import type { RunRow } from '../../contracts/rows.ts';
import type { RunRef, StepProgress } from '../../contracts/workflow.ts';
import { CognitionError } from '../../domain/cognition-error.ts';
import type { SandboxTask } from '../../ports/sandbox-provisioner.ts';
import { runExpiry } from '../records/run-records.ts';
import type { RunChange } from '../run-recorder.ts';
import type { SandboxManagerDeps, SandboxParts } from '../sandbox-manager.ts';
import { isGone } from './is-gone.ts';
import { HEALTH_TIMEOUT_MS } from './launch-sandbox.ts';
import { refuseCancelled } from './refuse-cancelled.ts';

const GRID_MS = 100;

export async function awaitSandbox(deps: SandboxParts, run: RunRef): Promise<StepProgress> {
  const { sandboxes, client, clock, recorder, stopping } = deps;
  const { awaitBudgetMs = 20_000, awaitFirstPollMs = 10, awaitPollMs = 1_000 } = deps;
  const began = clock.now();
  for (;;) {
    const row = (await sandboxes.get(run))?.row;
    if (row === undefined || row.host !== null) return { status: 'done' };
    const task = await deps.describe(row);
    if (isGone(deps, task, row)) throw goneWhileLaunching(task);
    const address = task?.status === 'running' ? task.address : undefined;
    const sandbox = address && { ...address, sandbox_id: row.sandbox_id };
    if (sandbox !== undefined && (await client.healthy(sandbox, HEALTH_TIMEOUT_MS))) {
      const waitedFor = clock.now() - Date.parse(row.requested_at);
      await recorder.record(run, (row) => becomeReady(deps, row, sandbox));
      deps.metrics.add({ name: 'SandboxLaunchLatency', value: waitedFor });
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
    const wanted = Math.max(awaitFirstPollMs, Math.min(awaitPollMs, waited * 0.15));
    await clock.sleep(pause(clock.now(), wanted));
    refuseCancelled((await deps.runs.require(run)).row);
  }
}

/** Longer pauses end on a common beat, so that hundreds of runs that wait ask the provider together. */
function pause(now: number, ms: number): number {
  if (ms < GRID_MS) return ms;
  return ms + GRID_MS - ((now + ms) % GRID_MS);
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
  // What the provider says may name its accounts and images, so it is for the log.
  const cause = new Error(task.stopped_reason ?? 'no reason was given');
  return new CognitionError('sandbox_unavailable', 'the sandbox stopped before it was ready', { cause });
}
