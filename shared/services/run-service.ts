import type { RunEvent } from '../contracts/event.ts';
import type { Manifest } from '../contracts/manifest.ts';
import { idSchema, type Page, type PageQuery } from '../contracts/names.ts';
import type { ArtifactRow, RunRow } from '../contracts/rows.ts';
import {
  type Artifact,
  artifactSchema,
  type CreateRun,
  type Run,
  type RunSummary,
  runSchema,
  runSummarySchema,
} from '../contracts/run.ts';
import type { RunRef } from '../contracts/workflow.ts';
import { CognitionError } from '../domain/cognition-error.ts';
import { OBJECT_KEYS } from '../domain/row-keys.ts';
import { isFinalStatus } from '../domain/run-transitions.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import type { BytesOrDownload, CommitWith } from './commit-with.ts';
import { decodeCursor, encodeCursor } from './page-cursor.ts';
import type { RunRecorder } from './run-recorder.ts';
import { bytesOrDownload } from './runs/bytes-or-download.ts';
import { type CreateRunDeps, createRun } from './runs/create-run.ts';
import { type FollowEventsDeps, followEvents } from './runs/follow-events.ts';
import type { RunStreams } from './runs/run-streams.ts';
import type { SandboxManager } from './sandbox-manager.ts';

/** What builders do with runs. The steps of the machine are in run-steps. */
export interface RunService {
  /** Writes the run (and `commitWith`) in one transaction, then starts the machine; a sweeper heals a lost start. */
  create(fingerprint: string, request: CreateRun, commitWith?: CommitWith<Run>): Promise<Run>;
  get(fingerprint: string, runId: string): Promise<Run>;
  /** Newest first. */
  list(fingerprint: string, page: PageQuery): Promise<Page<RunSummary>>;
  getManifest(fingerprint: string, runId: string): Promise<{ manifest: Manifest; manifest_digest: string }>;
  /**
   * Events after a sequence; waits up to `wait_seconds` for the first one, not at all for a run that has ended.
   * Waiting ends early when `signal` aborts: the caller has gone, and whatever is answered is dropped.
   */
  events(
    fingerprint: string,
    runId: string,
    query: { after: number; limit: number; wait_seconds: number; signal?: AbortSignal },
  ): Promise<{ items: RunEvent[]; run_ended: boolean }>;
  listArtifacts(fingerprint: string, runId: string): Promise<Artifact[]>;
  getArtifact(fingerprint: string, runId: string, path: string): Promise<BytesOrDownload>;
  /** Repeatable; a run that has ended is returned as it is. */
  cancel(fingerprint: string, runId: string): Promise<Run>;
}

export interface RunServiceDeps extends CreateRunDeps, FollowEventsDeps {
  readonly recorder: RunRecorder;
  readonly streams: RunStreams;
  readonly objects: ObjectStore;
  readonly manager: Pick<SandboxManager, 'stop'>;
}

const LIST = 'runs';

export function createRunService(deps: RunServiceDeps): RunService {
  const { runs, streams } = deps;
  const withStreams = async (row: RunRow): Promise<Run> =>
    runSchema.parse({ ...row, ...(await streams.read(row)) });
  return {
    async create(fingerprint, request, commitWith = () => []) {
      return createRun(deps, fingerprint, request, commitWith);
    },
    async get(fingerprint, runId) {
      return withStreams((await runs.require({ fingerprint, run_id: runId })).row);
    },
    async list(fingerprint, { cursor, limit }) {
      const after = decodeCursor(LIST, cursor, idSchema);
      const { rows, next } = await runs.list(fingerprint, { limit, after });
      const items: RunSummary[] = rows.map((row) => runSummarySchema.parse(row));
      return { items, ...(next === undefined ? {} : { next_cursor: encodeCursor(LIST, next) }) };
    },
    async getManifest(fingerprint, runId) {
      const run = { fingerprint, run_id: runId };
      await runs.require(run);
      const pinned = await runs.getManifest(run);
      if (pinned === undefined) {
        throw new CognitionError(
          'not_found',
          `the run ${runId} has no manifest, because it was not pinned (yet)`,
        );
      }
      return pinned;
    },
    events: (fingerprint, runId, query) => followEvents(deps, { fingerprint, run_id: runId }, query),
    async listArtifacts(fingerprint, runId) {
      const run = { fingerprint, run_id: runId };
      await runs.require(run);
      return (await runs.listArtifacts(run)).map(toArtifact);
    },
    getArtifact: (fingerprint, runId, path) => getArtifact(deps, { fingerprint, run_id: runId }, path),
    async cancel(fingerprint, runId) {
      return withStreams(await cancel(deps, { fingerprint, run_id: runId }));
    },
  };
}

function toArtifact({ path, size_bytes, sha256, artifact_id, refused }: ArtifactRow): Artifact {
  return artifactSchema.parse({
    path,
    size_bytes,
    ...(sha256 === null ? {} : { sha256 }),
    ...(artifact_id === null ? {} : { artifact_id }),
    ...(refused === null ? {} : { refused }),
  });
}

async function getArtifact(deps: RunServiceDeps, run: RunRef, path: string): Promise<BytesOrDownload> {
  await deps.runs.require(run);
  const artifact = await deps.runs.getArtifact(run, path);
  const missing = (why: string): CognitionError =>
    new CognitionError('not_found', `the run ${run.run_id} has no artifact ${JSON.stringify(path)}${why}`);
  if (artifact === undefined) throw missing('');
  const { artifact_id, sha256, size_bytes, refused } = artifact;
  if (artifact_id === null || sha256 === null) throw missing(`; it was refused: ${refused ?? 'unknown'}`);
  const found = await bytesOrDownload(deps, {
    key: OBJECT_KEYS.runArtifact(run.fingerprint, run.run_id, artifact_id),
    sha256,
    size_bytes,
    content_type: 'application/octet-stream',
    file_name: path.split('/').at(-1) ?? artifact_id,
  });
  if (found === undefined) throw missing(' any more');
  return found;
}

/** The machine ends the run; stopping the task only makes it notice at once. */
async function cancel({ recorder, manager, logger }: RunServiceDeps, run: RunRef): Promise<RunRow> {
  const row = await recorder.record(run, (current) =>
    current.cancel_requested || isFinalStatus(current.status)
      ? undefined
      : {
          set: { cancel_requested: true },
          events: [{ type: 'run.cancel_requested', stage: current.stage, data: {} }],
        },
  );
  if (isFinalStatus(row.status)) return row;
  try {
    await manager.stop(run, 'the run is cancelled');
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown';
    logger.warn('run.cancel_stop_failed', { ...run, reason });
  }
  return row;
}
