import pLimit from 'p-limit';
import type { NewEvent } from '../contracts/event.ts';
import type { Manifest } from '../contracts/manifest.ts';
import type { ArtifactRow } from '../contracts/rows.ts';
import type { RunRef } from '../contracts/workflow.ts';
import { CognitionError } from '../domain/cognition-error.ts';
import { OBJECT_KEYS } from '../domain/row-keys.ts';
import { sha256Hex } from '../domain/sha256.ts';
import { TransientError } from '../domain/transient-error.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import { type SandboxClient, type SandboxHandle, SandboxRefused } from '../ports/sandbox-client.ts';
import type { RunRecords } from './records/run-records.ts';
import type { RunRecorder } from './run-recorder.ts';
import { artifactId } from './runs/artifact-id.ts';
import { type SelectedOutput, selectOutputs } from './runs/select-outputs.ts';

/** Fetches a run's outputs out of a sandbox that is hostile by then, hashes them here and keeps them. */
export interface SandboxArtifactCollector {
  /**
   * Repeated after it died, it goes on with what is not recorded yet.
   * @throws CognitionError `collection_failed`; TransientError.
   */
  collect(run: RunRef, sandbox: SandboxHandle, manifest: Manifest): Promise<void>;
}

export interface SandboxArtifactCollectorDeps {
  readonly runs: RunRecords;
  readonly recorder: RunRecorder;
  readonly objects: ObjectStore;
  readonly client: SandboxClient;
}

const TRANSFERS = 4;
/** Rows and events of a transaction: two writes an output. */
const OUTPUTS_A_TRANSACTION = 45;

export function createSandboxArtifactCollector(deps: SandboxArtifactCollectorDeps): SandboxArtifactCollector {
  return {
    async collect(run, sandbox, manifest) {
      try {
        await collect(deps, run, sandbox, manifest);
      } catch (error) {
        throw error instanceof SandboxRefused ? collectionFailure(error) : error;
      }
    },
  };
}

async function collect(
  deps: SandboxArtifactCollectorDeps,
  run: RunRef,
  sandbox: SandboxHandle,
  manifest: Manifest,
): Promise<void> {
  const recorded = await deps.runs.listArtifacts(run);
  const { outputs, warnings } = selectOutputs(await deps.client.listOutputs(sandbox), manifest, recorded);
  const limit = pLimit(TRANSFERS);
  for (let at = 0; ; at += OUTPUTS_A_TRANSACTION) {
    const batch = outputs.slice(at, at + OUTPUTS_A_TRANSACTION);
    const rows = await Promise.all(batch.map((output) => limit(keep, deps, run, sandbox, output)));
    const last = at + OUTPUTS_A_TRANSACTION >= outputs.length;
    await record(deps, run, rows, last ? warnings : undefined);
    if (last) return;
  }
}

/** One transaction a batch; the last one says that the run's collection is complete. */
async function record(
  { runs, recorder }: SandboxArtifactCollectorDeps,
  run: RunRef,
  rows: readonly ArtifactRow[],
  finalWarnings: readonly string[] | undefined,
): Promise<void> {
  await recorder.record(run, async (row) => {
    if (row.status !== 'collecting' || row.stage !== 'collect') return undefined;
    // Another attempt, or a transaction whose answer was lost, may have recorded some of them.
    const present = await Promise.all(rows.map(({ path }) => runs.getArtifact(run, path)));
    const fresh = rows.filter((_, index) => present[index] === undefined);
    const kept = fresh.filter(({ refused }) => refused === null).length;
    return {
      set: {
        artifact_count: row.artifact_count + kept,
        ...(finalWarnings === undefined
          ? {}
          : { stage: 'finish', warnings: [...row.warnings, ...finalWarnings] }),
      },
      events: fresh.map(artifactEvent),
      writes: fresh.map((artifact) => runs.writeArtifact(row, artifact)),
    };
  });
}

function artifactEvent({ path, size_bytes, sha256, artifact_id, refused }: ArtifactRow): NewEvent {
  return refused === null
    ? { type: 'artifact.collected', stage: 'collect', data: { path, size_bytes, sha256, artifact_id } }
    : { type: 'artifact.refused', stage: 'collect', data: { path, size_bytes, reason: refused } };
}

async function keep(
  deps: SandboxArtifactCollectorDeps,
  run: RunRef,
  sandbox: SandboxHandle,
  { path, size_bytes, refused }: SelectedOutput,
): Promise<ArtifactRow> {
  const refusal = (reason: string): ArtifactRow => ({
    path,
    size_bytes,
    sha256: null,
    artifact_id: null,
    refused: reason,
  });
  if (refused !== undefined) return refusal(refused);
  let bytes: Uint8Array;
  try {
    bytes = await deps.client.getOutput(sandbox, path, size_bytes);
  } catch (error) {
    if (!(error instanceof SandboxRefused) || error.code === 'protocol') throw error;
    return refusal(`the sandbox would not give the file: ${error.code}`);
  }
  if (bytes.byteLength !== size_bytes) return refusal('the file changed its size while it was read');
  const sha256 = sha256Hex(bytes);
  const id = artifactId(run.run_id, path, sha256);
  const key = OBJECT_KEYS.runArtifact(run.fingerprint, run.run_id, id);
  // The key is made of the content, so what is there already is the same.
  await deps.objects.put({ key, bytes, sha256 });
  return { path, size_bytes, sha256, artifact_id: id, refused: null };
}

function collectionFailure(refused: SandboxRefused): Error {
  // The daemon ends every process of the command before it lists; that may take a moment.
  if (refused.code === 'still_running')
    return new TransientError('the command is still being ended', refused);
  return new CognitionError('collection_failed', `the sandbox did not give its outputs: ${refused.code}`, {
    cause: refused,
  });
}
