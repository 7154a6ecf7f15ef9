import type { NewEvent } from '../contracts/event.ts';
import type { ManifestRow, RunRow } from '../contracts/rows.ts';
import { RUN_STATUSES, type RunStatus } from '../contracts/run.ts';
import type { RunRef, StepProgress } from '../contracts/workflow.ts';
import { CognitionError, isCognitionError } from '../domain/cognition-error.ts';
import { isFinalStatus } from '../domain/run-transitions.ts';
import { TransientError } from '../domain/transient-error.ts';
import type { Logger } from '../ports/logger.ts';
import type { Metrics } from '../ports/metrics.ts';
import { type SandboxHandle, SandboxRefused } from '../ports/sandbox-client.ts';
import { redactedCommand } from './run-skill-resolver.ts';
import { type CaughtFailure, type EndRunDeps, endRun } from './runs/end-run.ts';
import { type ExecuteCommandDeps, executeCommand } from './runs/execute-command.ts';
import { type PinManifestDeps, pinManifest } from './runs/pin-manifest.ts';
import { refuseCancelled } from './runs/refuse-cancelled.ts';
import { type TeardownDeps, tearDown } from './runs/tear-down.ts';
import type { SandboxArtifactCollector } from './sandbox-artifact-collector.ts';
import type { SkillSandboxMaterializer } from './skill-sandbox-materializer.ts';

/**
 * The states of the run machine. Each may run twice, and each may be the last thing that ever happens. They throw
 * TransientError for what the machine retries, CognitionError for what ends the run with that code.
 */
export interface RunSteps {
  pinManifest(run: RunRef): Promise<void>;
  launchSandbox(run: RunRef): Promise<void>;
  awaitSandbox(run: RunRef): Promise<StepProgress>;
  materialize(run: RunRef): Promise<void>;
  execute(run: RunRef): Promise<StepProgress>;
  collectArtifacts(run: RunRef): Promise<void>;
  finish(run: RunRef): Promise<void>;
  recordFailure(run: RunRef, failure: { code: string; message: string }): Promise<void>;
  teardown(run: RunRef): Promise<void>;
}

export interface RunStepsDeps extends PinManifestDeps, ExecuteCommandDeps, EndRunDeps, TeardownDeps {
  readonly materializer: SkillSandboxMaterializer;
  readonly collector: SandboxArtifactCollector;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

export function createRunSteps(deps: RunStepsDeps): RunSteps {
  const { manager } = deps;
  const done: StepProgress = { status: 'done' };
  return {
    async pinManifest(run) {
      const row = await enter(deps, run, 'queued', 'pinned');
      if (row !== undefined) await pinManifest(deps, row);
    },
    async launchSandbox(run) {
      const row = await enter(deps, run, 'pinned', 'launching');
      if (row !== undefined) await manager.launch(run, (await pinnedManifest(deps, row)).manifest);
    },
    async awaitSandbox(run) {
      const row = await enter(deps, run, 'launching', 'launching');
      return row === undefined ? done : manager.awaitReady(run);
    },
    async materialize(run) {
      const row = await enter(deps, run, 'materializing', 'materializing');
      if (row !== undefined) await materialize(deps, row);
    },
    async execute(run) {
      const row = await enter(deps, run, 'running', 'running');
      return row === undefined ? done : execute(deps, row);
    },
    async collectArtifacts(run) {
      const row = await enter(deps, run, 'collecting', 'collecting');
      if (row === undefined || row.stage === 'finish') return;
      const { manifest } = await pinnedManifest(deps, row);
      await withSandbox(deps, run, (sandbox) => deps.collector.collect(run, sandbox, manifest));
    },
    async finish(run) {
      const row = await enter(deps, run, 'collecting', 'collecting');
      if (row !== undefined) await end(deps, run, undefined);
    },
    async recordFailure(run, failure) {
      try {
        await end(deps, run, failure);
      } catch (error) {
        if (!isCognitionError(error, 'not_found')) throw error;
      }
    },
    teardown: (run) => tearDown(deps, run),
  };
}

/** Counted by the call that ended it; one whose answer was lost is not counted. */
async function end(deps: RunStepsDeps, run: RunRef, failure: CaughtFailure | undefined): Promise<void> {
  let ends = false;
  const row = await deps.recorder.record(run, async (current) => {
    const change = await endRun(deps, current, failure);
    ends = change !== undefined;
    return change;
  });
  if (!ends) return;
  deps.metrics.add({ name: 'RunsFinished', outcome: row.status });
  if (row.failure !== null) deps.metrics.add({ name: 'RunFailures', code: row.failure.code });
  const { queued_at, finished_at } = row.timings;
  const duration = Date.parse(finished_at ?? queued_at) - Date.parse(queued_at);
  deps.metrics.add({ name: 'RunDuration', value: duration });
}

/**
 * @returns undefined when the run is past this step, or has ended: the step did its work before, and its answer was
 *   lost.
 * @throws CognitionError `run_cancelled`
 */
async function enter(
  { runs }: RunStepsDeps,
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

async function pinnedManifest({ runs }: RunStepsDeps, row: RunRow): Promise<ManifestRow> {
  const pinned = await runs.getManifest(row);
  if (pinned === undefined) throw new Error(`the run ${row.run_id} is ${row.status} without a manifest`);
  return pinned;
}

/**
 * A sandbox that does not answer may be lost, or was stopped because the run is cancelled. One that refuses may be
 * another, which has the address of the lost one by now.
 */
async function withSandbox<T>(
  { manager, runs }: RunStepsDeps,
  run: RunRef,
  use: (sandbox: SandboxHandle) => Promise<T>,
): Promise<T> {
  try {
    return await use(await manager.handle(run));
  } catch (cause) {
    if (!(cause instanceof TransientError || isRefusal(cause))) throw cause;
    refuseCancelled((await runs.require(run)).row);
    if (!(await manager.isLost(run))) throw cause;
    throw new CognitionError(
      'run_interrupted',
      'the sandbox was lost while the run needed it; start the run again',
      { cause },
    );
  }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof SandboxRefused || (error instanceof Error && error.cause instanceof SandboxRefused);

async function materialize(deps: RunStepsDeps, run: RunRow): Promise<void> {
  const pinned = await pinnedManifest(deps, run);
  await withSandbox(deps, run, (sandbox) => deps.materializer.materialize(run.fingerprint, sandbox, pinned));
  const { packages, inputs } = pinned.manifest;
  await deps.recorder.record(run, (row) => {
    if (row.status !== 'materializing') return undefined;
    const materialized = packages.map(
      ({ name, revision, digest, size_bytes }): NewEvent => ({
        type: 'package.materialized',
        stage: 'materialize',
        data: { name, revision, digest, size_bytes },
      }),
    );
    const sealed = { packages: packages.length, inputs: inputs.length };
    return {
      moves: ['running'],
      set: { stage: 'execute' },
      timings: { sealed_at: new Date(deps.clock.now()).toISOString() },
      events: [...materialized, { type: 'sandbox.sealed', stage: 'materialize', data: sealed }],
    };
  });
}

async function execute(deps: RunStepsDeps, run: RunRow): Promise<StepProgress> {
  const [request, { manifest }] = await Promise.all([deps.requests.read(run), pinnedManifest(deps, run)]);
  if (JSON.stringify(redactedCommand(request)) !== JSON.stringify(manifest.command)) {
    throw new CognitionError('digest_mismatch', 'the stored command is not the one that was pinned');
  }
  try {
    return await withSandbox(deps, run, (sandbox) => executeCommand(deps, run, sandbox, request));
  } catch (cause) {
    if (!(cause instanceof SandboxRefused)) throw cause;
    const message = `the sandbox did not keep to its protocol while the command ran: ${cause.code}`;
    throw new CognitionError('run_interrupted', message, { cause });
  }
}
