/** One run for each script of the conformance skill, and what must have become of it. */

import { LIMITS } from '../../../shared/contracts/limits.ts';
import type { Run } from '../../../shared/contracts/run.ts';
import type { Client } from '../../client/create-client.ts';
import type { Attempt } from './attempt.ts';
import { judgeOutputs, type Outputs } from './judge-outputs.ts';
import { readAttempts } from './read-attempts.ts';

export interface ConformanceRun {
  readonly script: string;
  /** Of the command. */
  readonly timeout_seconds: number;
  judge(run: Run, client: Client): Promise<Attempt[]> | Attempt[];
}

const FLOOD_EXIT_CODE = 7;
const LINGER_SECONDS = 3;
/** For the sandbox to notice, and the machine of the run to ask. */
const LINGER_GRACE_SECONDS = 30;

export const CONFORMANCE_RUNS: readonly ConformanceRun[] = [
  {
    script: 'attempts',
    timeout_seconds: 180,
    judge: async (run, client) => [
      ended(run, 'ending the sandbox from inside', run.status === 'succeeded'),
      ...readAttempts('attempts', run.stdout),
      ...judgeOutputs(await outputsOf(run, client)),
    ],
  },
  {
    script: 'flood',
    timeout_seconds: 120,
    judge: async (run, client) => {
      const { items } = await client.listRunEvents(run.run_id, { limit: LIMITS.listLimitMax });
      const forged = items.some(({ type }) => type === 'run.succeeded');
      const cut = run.stdout_truncated && run.stdout.length <= LIMITS.streamBytes && /^x*$/.test(run.stdout);
      return [
        ended(run, 'a gigabyte without a line break', cut && run.failure?.code === 'script_failed'),
        ended(run, 'forging events and an exit code', run.exit_code === FLOOD_EXIT_CODE && !forged),
      ];
    },
  },
  {
    script: 'linger',
    timeout_seconds: LINGER_SECONDS,
    judge: (run) => {
      const { started_at, exited_at } = run.timings;
      const seconds = (Date.parse(exited_at ?? '') - Date.parse(started_at ?? '')) / 1_000;
      const inTime = seconds <= LINGER_SECONDS + LINGER_GRACE_SECONDS;
      return [ended(run, 'staying past the deadline', run.status === 'timed_out' && inTime)];
    },
  },
  {
    script: 'crowd',
    timeout_seconds: 120,
    judge: (run) => {
      const few = run.artifact_count <= LIMITS.outputFiles;
      return [ended(run, 'a hundred thousand outputs', run.status === 'succeeded' && few)];
    },
  },
];

const ended = (run: Run, attempt: string, refused: boolean): Attempt => ({
  group: 'runs',
  attempt,
  refused,
  detail: `${run.status}${run.exit_code === null ? '' : `, exit code ${run.exit_code}`}${run.failure === null ? '' : `, ${run.failure.code}: ${run.failure.message}`} (run ${run.run_id})`,
});

async function outputsOf(run: Run, client: Client): Promise<Outputs> {
  const { items } = await client.getRunArtifacts(run.run_id);
  const collected = new Map<string, string>();
  const refused = new Map<string, string>();
  for (const { path, sha256, refused: reason } of items) {
    if (reason !== undefined) {
      refused.set(path, reason);
      continue;
    }
    // The client compares what arrives with the hash of the list.
    const { bytes } = await client.getRunArtifact(run.run_id, path, sha256);
    collected.set(path, Buffer.from(bytes).toString('utf8'));
  }
  return { collected, refused };
}
