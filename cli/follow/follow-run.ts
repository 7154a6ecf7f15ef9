/** Follows a run to its end: stages and output as they come, then the result, then the exit code. */
import type { Artifact, Run } from '../../shared/contracts/run.ts';
import { isFinalStatus } from '../../shared/domain/run-transitions.ts';
import type { Client } from '../client/create-client.ts';
import { API_FIXES } from '../error-fixes.ts';
import type { Session } from '../session.ts';
import { sleep } from '../sleep.ts';
import { formatStatus } from '../terminal/format.ts';
import { createProgress } from '../terminal/progress.ts';
import type { Interruption } from './interruption.ts';
import { runEventsFrom } from './run-events-from.ts';
import { runExitCode } from './run-exit-code.ts';
import { createStagePrinter } from './stage-printer.ts';
import { createStreamPrinter } from './stream-printer.ts';

/** How long a cancelled run may take to say that it has ended. */
const CANCEL_GRACE_MS = 30_000;

export async function followRun(
  started: Run,
  client: Client,
  session: Session,
  interrupted: Interruption,
): Promise<number> {
  const runId = started.run_id;
  const giveUp = new AbortController();
  cancelOnInterrupt(runId, client, session, interrupted, giveUp);
  const progress = await createProgress(session.io, session.output.json);
  const streams = createStreamPrinter(session, progress);
  const stages = createStagePrinter(runId, progress);
  try {
    const events = runEventsFrom(client, runId, { follow: true, signal: giveUp.signal });
    for await (const event of events) {
      stages.event(event);
      streams.event(event);
    }
  } catch (error) {
    if (!giveUp.signal.aborted) {
      session.output.note(`run ${runId} goes on: cognition runs events ${runId} --follow`);
      throw error;
    }
    return runExitCode(started, interrupted.signal);
  } finally {
    progress.stop();
  }
  const run = await finalRun(runId, client);
  streams.finish(run);
  await showResult(run, client, session);
  return runExitCode(run, interrupted.signal);
}

function cancelOnInterrupt(
  runId: string,
  client: Client,
  session: Session,
  interrupted: Interruption,
  giveUp: AbortController,
): void {
  interrupted.onSignal((_signal, count) => {
    if (count > 1) {
      giveUp.abort();
      return;
    }
    session.output.note(`cancelling run ${runId}; again to leave it at once`);
    client.cancelRun(runId).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      session.output.note(`could not cancel run ${runId}: ${reason}`);
      giveUp.abort();
    });
    setTimeout(() => giveUp.abort(), CANCEL_GRACE_MS).unref();
  });
}

/** The last event and the run's row are written together, but may be read from different places. */
async function finalRun(runId: string, client: Client): Promise<Run> {
  for (let attempt = 0; ; attempt += 1) {
    const run = await client.getRun(runId);
    if (isFinalStatus(run.status) || attempt === 10) return run;
    await sleep(200);
  }
}

async function showResult(run: Run, client: Client, session: Session): Promise<void> {
  const { items: artifacts } = await client.getRunArtifacts(run.run_id);
  if (session.output.json) {
    session.output.result({ run, artifacts }, () => []);
    return;
  }
  const { output } = session;
  for (const warning of run.warnings) output.note([{ text: 'warning: ', style: 'yellow' }, warning]);
  for (const artifact of artifacts) output.note(artifactLine(artifact));
  if (run.failure !== null) {
    const fix = API_FIXES[run.failure.code];
    output.note([
      { text: 'cognition: ', style: 'red' },
      run.failure.message,
      { text: ` [${run.failure.code}, ${run.failure.stage}]`, style: 'dim' },
      fix === undefined ? '' : `; ${fix.replace('ID', run.run_id)}`,
    ]);
  }
  const kept = artifacts.filter(({ refused }) => refused === undefined).length;
  output.note([
    `run ${run.run_id} `,
    formatStatus(run.status),
    run.exit_code === null ? '' : `, exit code ${run.exit_code}`,
    run.manifest_digest === null ? '' : `, manifest ${run.manifest_digest}`,
  ]);
  if (kept > 0) output.note(`fetch the artifacts: cognition artifacts get ${run.run_id} --output DIR`);
}

const artifactLine = (artifact: Artifact) =>
  artifact.refused === undefined
    ? `artifact ${artifact.path} (${artifact.size_bytes} bytes, sha256 ${artifact.sha256 ?? 'unknown'})`
    : ([{ text: 'refused ', style: 'yellow' } as const, `${artifact.path}: ${artifact.refused}`] as const);
