import type { RunRef } from '../contracts/workflow.ts';
import { isFinalStatus } from '../domain/run-transitions.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { RunOrchestrator } from '../ports/run-orchestrator.ts';
import type { RunRecords } from './records/run-records.ts';
import type { RunSteps } from './run-steps.ts';
import { runDeadlineSeconds } from './runs/run-deadline.ts';

/** Looks after runs whose machine never began or never ended. */
export interface RunSweeper {
  sweep(): Promise<{ started: number; ended: number; torn_down: number }>;
}

export interface RunSweeperDeps {
  readonly runs: RunRecords;
  readonly steps: Pick<RunSteps, 'recordFailure' | 'teardown'>;
  readonly orchestrator: RunOrchestrator;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A start takes less; a run that waits this long was not started, or its machine is only slow and is not harmed. */
const START_GRACE_MS = 10_000;
/** Between a run's end and its teardown, which is the machine's own. */
const TEARDOWN_GRACE_MS = 60_000;

export function createRunSweeper(deps: RunSweeperDeps): RunSweeper {
  return {
    async sweep() {
      const counts = { started: 0, ended: 0, torn_down: 0 };
      for await (const { fingerprint, run_id } of deps.runs.listActive()) {
        const run: RunRef = { fingerprint, run_id };
        try {
          const done = await look(deps, run);
          if (done !== undefined) counts[done] += 1;
        } catch (error) {
          // One run that cannot be helped now must not keep the others waiting.
          const reason = error instanceof Error ? error.message : 'unknown';
          deps.logger.warn('sweeper.run_failed', { ...run, reason });
        }
      }
      return counts;
    },
  };
}

async function look(
  { runs, steps, orchestrator, clock }: RunSweeperDeps,
  run: RunRef,
): Promise<'started' | 'ended' | 'torn_down' | undefined> {
  const row = (await runs.get(run))?.row;
  if (row === undefined) {
    await steps.teardown(run);
    return 'torn_down';
  }
  const now = clock.now();
  if (isFinalStatus(row.status)) {
    if (now - Date.parse(row.timings.finished_at ?? row.timings.queued_at) < TEARDOWN_GRACE_MS)
      return undefined;
    await steps.teardown(run);
    return 'torn_down';
  }
  const age = now - Date.parse(row.timings.queued_at);
  if (age > runDeadlineSeconds(row.timeout_seconds) * 1_000) {
    await steps.recordFailure(run, {
      code: 'run_interrupted',
      message: 'the run did not end in its time and was given up; start it again',
    });
    await steps.teardown(run);
    return 'ended';
  }
  if (row.status !== 'queued' || age < START_GRACE_MS) return undefined;
  await orchestrator.start(run);
  return 'started';
}
