/**
 * Runs the conformance program in a deployment: publishes its skill into the scope, starts its runs, judges what comes
 * of them, and removes what it has made. Runs and their artifacts stay as long as every run's do.
 */
import { randomBytes } from 'node:crypto';
import type { Run } from '../../../shared/contracts/run.ts';
import { isFinalStatus } from '../../../shared/domain/run-transitions.ts';
import { ApiError } from '../../client/client-errors.ts';
import type { Client } from '../../client/create-client.ts';
import { CliFailure, EXIT } from '../../failure.ts';
import { interruption } from '../../follow/interruption.ts';
import { runEventsFrom } from '../../follow/run-events-from.ts';
import type { Session } from '../../session.ts';
import { createProgress, type Progress } from '../../terminal/progress.ts';
import { apiAttempts } from './api-attempts.ts';
import type { Attempt } from './attempt.ts';
import { CONFORMANCE_RUNS, type ConformanceRun } from './conformance-runs.ts';
import { CONFORMANCE_PREFIX, conformanceSkill } from './conformance-skill.ts';

export async function tryDeployment(session: Session, profile: string | undefined): Promise<Attempt[]> {
  const { client } = await session.connect();
  // A name of its own, so that two of these do not disturb each other.
  const name = `${CONFORMANCE_PREFIX}-${randomBytes(4).toString('hex')}`;
  const files = await conformanceSkill(name);
  const progress = await createProgress(session.io, session.output.json);
  const interrupted = interruption(session.io);
  const started = new Set<string>();
  interrupted.onSignal(() => {
    session.output.note('cancelling the runs; what was made is removed when they have ended');
    for (const id of started) client.cancelRun(id).catch(() => undefined);
  });
  try {
    progress.next(`publishing ${name}`);
    await client.createSkill(name, { files });
    await client.createAgent({
      name,
      skills: [name],
      ...(profile === undefined ? {} : { sandbox_profile: profile }),
    });
    progress.done(`published ${name}`);
    const attempts = await attemptAll({ client, name, progress, started });
    if (interrupted.signal === undefined) return attempts;
    throw new CliFailure('interrupted', 'interrupted; the runs were cancelled', {
      exitCode: EXIT.interrupted,
    });
  } finally {
    progress.stop();
    await remove(session, client, name);
    interrupted.stop();
  }
}

interface Attempting {
  readonly client: Client;
  readonly name: string;
  readonly progress: Progress;
  readonly started: Set<string>;
}

async function attemptAll({ client, name, progress, started }: Attempting): Promise<Attempt[]> {
  const text = Buffer.from('An input that must stay as it is.');
  const { artifact_id } = await client.createArtifact(text, 'text/plain');
  const fromOutside = await apiAttempts({ client, agent: name, skill: name, artifact_id });
  progress.done('tried the API');
  progress.next(`following ${CONFORMANCE_RUNS.length} runs`);
  const runs = CONFORMANCE_RUNS.map(async (conformance) => {
    const run = await runOf(conformance);
    progress.done(`run of ${conformance.script} ${run.status}`);
    return await conformance.judge(run, client);
  });
  async function runOf({ script, timeout_seconds }: ConformanceRun): Promise<Run> {
    const { run_id } = await client.createRun({
      agent: name,
      command: { skill: name, script: `scripts/${script}.py`, args: [] },
      inputs: [{ artifact_id, path: 'in.txt' }],
      timeout_seconds,
    });
    started.add(run_id);
    return await endOf(client, run_id);
  }
  // All of them, so that nothing is removed under a run that still needs it.
  const results = await Promise.allSettled(runs);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return [
    ...fromOutside,
    ...results.flatMap((result) => (result.status === 'fulfilled' ? result.value : [])),
  ];
}

async function endOf(client: Client, runId: string): Promise<Run> {
  for await (const _event of runEventsFrom(client, runId, { follow: true }));
  for (;;) {
    const run = await client.getRun(runId);
    if (isFinalStatus(run.status)) return run;
  }
}

/** A failure of its own stands in the way of nothing: not of the other removal, and not of what is to be told. */
async function remove({ output }: Session, client: Client, name: string): Promise<void> {
  const removals = await Promise.allSettled([client.deleteAgent(name), client.deleteSkill(name)]);
  for (const removal of removals) {
    if (removal.status === 'fulfilled') continue;
    const error: unknown = removal.reason;
    if (error instanceof ApiError && error.status === 404) continue;
    const reason = error instanceof Error ? error.message : 'unknown';
    output.note(
      `something of ${name} was not removed (${reason}); delete the agent and the skill of that name`,
    );
  }
}
