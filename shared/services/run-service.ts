import type { RunEvent } from '../contracts/event.ts';
import type { Manifest } from '../contracts/manifest.ts';
import type { Page, PageQuery } from '../contracts/names.ts';
import type { Artifact, CreateRun, Run, RunSummary } from '../contracts/run.ts';
import type { BytesOrDownload, CommitWith } from './commit-with.ts';

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
