import type { Manifest } from '../contracts/manifest.ts';
import type { SandboxRow } from '../contracts/rows.ts';
import type { SandboxProfile } from '../contracts/sandbox-profile.ts';
import type { RunRef, StepProgress } from '../contracts/workflow.ts';
import { CognitionError } from '../domain/cognition-error.ts';
import { TransientError } from '../domain/transient-error.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { SandboxClient, SandboxHandle } from '../ports/sandbox-client.ts';
import type { SandboxProvisioner, SandboxTask } from '../ports/sandbox-provisioner.ts';
import type { RunRecords } from './records/run-records.ts';
import type { SandboxRecords } from './records/sandbox-records.ts';
import type { RunRecorder } from './run-recorder.ts';
import { awaitSandbox } from './runs/await-sandbox.ts';
import { batchDescribes } from './runs/batch-describes.ts';
import { isGone } from './runs/is-gone.ts';
import { launchSandbox } from './runs/launch-sandbox.ts';

/** Gives each run one sandbox, from the pool or new, and takes it away. */
export interface SandboxManager {
  /** Claims a pooled sandbox of the pinned profile and image, else starts one. Repeated, it is the same sandbox. */
  launch(run: RunRef, manifest: Manifest): Promise<void>;
  /**
   * Waits, for a bounded time a call, until the daemon answers.
   * @throws CognitionError `sandbox_unavailable`, `run_interrupted`, `run_cancelled`.
   */
  awaitReady(run: RunRef): Promise<StepProgress>;
  /** @throws CognitionError `run_interrupted` when the run has no sandbox (any more). */
  handle(run: RunRef): Promise<SandboxHandle>;
  /** True when the provider says that the task is no more. */
  isLost(run: RunRef): Promise<boolean>;
  /** Undefined when there is none or it was stopped before. @throws TransientError when it would not stop. */
  stop(run: RunRef, reason: string): Promise<SandboxRow | undefined>;
}

export interface SandboxManagerDeps {
  readonly runs: RunRecords;
  readonly sandboxes: SandboxRecords;
  readonly recorder: RunRecorder;
  readonly provisioner: SandboxProvisioner;
  readonly client: SandboxClient;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly metrics: Metrics;
  /** In [0, 1). */
  readonly random: () => number;
  readonly profiles: readonly SandboxProfile[];
  /** Told of each claim, so that the pool refills. */
  readonly onClaim?: (profile: string) => void;
  /** How long one AwaitSandbox call may take, in milliseconds; default 20,000. */
  readonly awaitBudgetMs?: number;
  /** Shortest pause between two looks at a task that is starting, in milliseconds; default 10. */
  readonly awaitFirstPollMs?: number;
  /** Longest pause between two looks at a task that is starting, in milliseconds; default 1,000. */
  readonly awaitPollMs?: number;
  /** How long a provider may not know a task it has just accepted, in milliseconds; default 10,000. */
  readonly missingGraceMs?: number;
  /** Ends waiting when the process is to stop. */
  readonly stopping?: AbortSignal;
}

/** What the parts of the manager work with. */
export interface SandboxParts extends SandboxManagerDeps {
  readonly describe: (row: SandboxRow) => Promise<SandboxTask | undefined>;
}

const STOP_ATTEMPTS = 3;

export function createSandboxManager(given: SandboxManagerDeps): SandboxManager {
  const describe = batchDescribes(given.provisioner);
  const deps: SandboxParts = {
    ...given,
    describe: async ({ task_id }) => (task_id === null ? undefined : describe(task_id)),
  };
  const { sandboxes } = deps;
  return {
    launch: (run, manifest) => launchSandbox(deps, run, manifest),
    awaitReady: (run) => awaitSandbox(deps, run),
    async handle(run) {
      const row = (await sandboxes.get(run))?.row;
      const key = row && (await sandboxes.getKey(row.sandbox_id));
      if (row === undefined || row.host === null || row.port === null || key === undefined) {
        throw new CognitionError('run_interrupted', 'the run has no sandbox any more');
      }
      const { sandbox_id, host, port } = row;
      return { sandbox_id, run_id: run.run_id, host, port, private_key: key };
    },
    async isLost(run) {
      const row = (await sandboxes.get(run))?.row;
      return row === undefined || row.stopped || isGone(deps, await deps.describe(row), row);
    },
    stop: (run, reason) => stop(deps, run, reason),
  };
}

async function stop(
  { sandboxes, provisioner, clock }: SandboxManagerDeps,
  run: RunRef,
  reason: string,
): Promise<SandboxRow | undefined> {
  const row = (await sandboxes.get(run))?.row;
  if (row === undefined || row.stopped) return undefined;
  for (let attempt = 1; ; attempt += 1) {
    try {
      // A launch that died between the provider's yes and our note of it left a task without a known id.
      const taskId = row.task_id ?? (await taskOf(provisioner, row.sandbox_id));
      if (taskId !== undefined) await provisioner.stop(taskId, reason);
      return row;
    } catch (error) {
      if (!(error instanceof TransientError) || attempt === STOP_ATTEMPTS) throw error;
      await clock.sleep(100 * attempt);
    }
  }
}

async function taskOf(provisioner: SandboxProvisioner, sandboxId: string): Promise<string | undefined> {
  const tasks = await provisioner.list();
  return tasks.find(({ sandbox_id }) => sandbox_id === sandboxId)?.task_id;
}
