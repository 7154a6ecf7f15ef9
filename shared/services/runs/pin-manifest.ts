/** PinManifest: names become exact revisions once, and from then on nothing that is published changes the run. */
import type { ManifestRow, RunRow } from '../../contracts/rows.ts';
import type { Clock } from '../../ports/clock.ts';
import type { InputArtifacts } from '../input-artifacts.ts';
import { type RunRecords, runExpiry } from '../records/run-records.ts';
import type { RunRecorder } from '../run-recorder.ts';
import { pinnedInputs, type RunSkillResolver } from '../run-skill-resolver.ts';
import type { RunRequestBlobs } from './run-request-blobs.ts';
import { checkRunRequest } from './run-request-rules.ts';

export interface PinManifestDeps {
  readonly runs: RunRecords;
  readonly recorder: RunRecorder;
  readonly requests: RunRequestBlobs;
  readonly inputs: Pick<InputArtifacts, 'describe'>;
  readonly resolver: RunSkillResolver;
  readonly clock: Clock;
}

export async function pinManifest(deps: PinManifestDeps, run: RunRow): Promise<void> {
  if (run.status === 'queued') await pin(deps, run);
  const pinned = await deps.runs.getManifest(run);
  if (pinned === undefined) throw new Error(`the pinned run ${run.run_id} has no manifest`);
  await deps.resolver.verifyPinned(run, pinned.manifest);
}

async function pin(
  { runs, recorder, requests, inputs, resolver, clock }: PinManifestDeps,
  run: RunRow,
): Promise<void> {
  const { fingerprint } = run;
  const request = await requests.read(run);
  const [resolved, artifacts] = await Promise.all([
    resolver.resolve(fingerprint, request),
    inputs.describe(
      fingerprint,
      request.inputs.map(({ artifact_id }) => artifact_id),
    ),
  ]);
  // The agent may name another profile by now, with other rules for what a caller may set.
  checkRunRequest(request, resolved.profile);
  const pinned: ManifestRow = await resolver.manifest(
    fingerprint,
    resolved,
    request,
    pinnedInputs(request, artifacts),
  );
  const { manifest, manifest_digest } = pinned;
  await recorder.record(run, (row) => {
    if (row.status !== 'queued') return undefined;
    return {
      moves: ['pinned'],
      set: {
        stage: 'pin',
        manifest_digest,
        warnings: [...row.warnings, ...isolationWarnings(manifest.sandbox.isolation)],
      },
      timings: { pinned_at: new Date(clock.now()).toISOString() },
      events: [
        {
          type: 'run.pinned',
          stage: 'pin',
          data: {
            manifest_digest,
            agent_revision: manifest.agent.revision,
            packages: manifest.packages.map(({ name, revision, digest }) => ({ name, revision, digest })),
          },
        },
      ],
      writes: [
        runs.writeManifest(row, pinned),
        ...resolver.references(run, resolved.packages, runExpiry(row)),
      ],
    };
  });
}

const isolationWarnings = (isolation: ManifestRow['manifest']['sandbox']['isolation']): string[] =>
  isolation === 'none'
    ? ['the command runs WITHOUT isolation: this server was started with the unsafe setting for development']
    : [];
