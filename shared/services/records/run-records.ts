import type * as z from 'zod';
import { LIMITS } from '../../contracts/limits.ts';
import {
  type ActiveRunRow,
  type ArtifactRow,
  activeRunRowSchema,
  artifactRowSchema,
  type ManifestRow,
  manifestRowSchema,
  type RunRow,
  runRowSchema,
} from '../../contracts/rows.ts';
import type { RunRef } from '../../contracts/workflow.ts';
import { CognitionError } from '../../domain/cognition-error.ts';
import { KEYS } from '../../domain/row-keys.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Condition, Row, TableStore, Write } from '../../ports/table-store.ts';
import { readAll } from './read-all.ts';
import { rowData } from './row-data.ts';

export interface StoredRun {
  readonly row: RunRow;
  readonly version: string;
}

/** Rows of runs: the run itself, its manifest and artifacts, and the list of runs that have not been torn down. */
export interface RunRecords {
  /** Undefined when it is not there or past its retention. */
  get(run: RunRef): Promise<StoredRun | undefined>;
  /** @throws CognitionError `not_found` */
  require(run: RunRef): Promise<StoredRun>;
  write(row: RunRow, condition: Condition): Write;
  /** Newest first. */
  list(
    fingerprint: string,
    paging: { limit: number; after?: string | undefined },
  ): Promise<{ rows: RunRow[]; next?: string }>;
  getManifest(run: RunRef): Promise<ManifestRow | undefined>;
  writeManifest(row: RunRow, manifest: ManifestRow): Write;
  getArtifact(run: RunRef, path: string): Promise<ArtifactRow | undefined>;
  listArtifacts(run: RunRef): Promise<ArtifactRow[]>;
  writeArtifact(row: RunRow, artifact: ArtifactRow): Write;
  writeActive(row: RunRow): Write;
  deleteActive(runId: string): Write;
  /** Undefined when the run is not in the list of active ones. */
  findActive(runId: string): Promise<ActiveRunRow | undefined>;
  /** Every run whose sandbox may still be there, in no order. */
  listActive(): AsyncGenerator<ActiveRunRow>;
}

/** Unix seconds after which the rows of a run may go. */
export function runExpiry(row: Pick<RunRow, 'timings'>): number {
  return Math.floor(Date.parse(row.timings.queued_at) / 1_000) + LIMITS.runRetentionSeconds;
}

/** The same answer for a wrong scope, a run that never was and one past its retention. */
export function runNotFound(runId: string): CognitionError {
  return new CognitionError('not_found', `there is no run ${runId} in this scope`);
}

export function createRunRecords({ table, clock }: { table: TableStore; clock: Clock }): RunRecords {
  const current = (row: Row): boolean => row.expires_at === undefined || row.expires_at * 1_000 > clock.now();
  const get: RunRecords['get'] = async ({ fingerprint, run_id }) => {
    const row = await table.get(KEYS.run(fingerprint, run_id));
    if (row === undefined || !current(row)) return undefined;
    return { row: runRowSchema.parse(row.data), version: row.version };
  };
  return {
    get,
    async require(run) {
      const stored = await get(run);
      if (stored === undefined) throw runNotFound(run.run_id);
      return stored;
    },
    write: (row, condition) => ({
      kind: 'put',
      key: KEYS.run(row.fingerprint, row.run_id),
      data: rowData(row),
      expires_at: runExpiry(row),
      if: condition,
    }),
    async list(fingerprint, { limit, after }) {
      const options = { limit, descending: true, ...(after === undefined ? {} : { after }) };
      const { rows, next } = await table.query(KEYS.runs(fingerprint), options);
      const parsed = rows.filter(current).map((row) => runRowSchema.parse(row.data));
      return { rows: parsed, ...(next === undefined ? {} : { next }) };
    },
    async getManifest({ fingerprint, run_id }) {
      const row = await table.get(KEYS.manifest(fingerprint, run_id));
      return row && manifestRowSchema.parse(row.data);
    },
    writeManifest: (row, manifest) => ({
      kind: 'put',
      key: KEYS.manifest(row.fingerprint, row.run_id),
      data: rowData(manifest),
      expires_at: runExpiry(row),
      if: { absent: true },
    }),
    async getArtifact({ fingerprint, run_id }, path) {
      const row = await table.get(KEYS.artifact(fingerprint, run_id, path));
      return row && artifactRowSchema.parse(row.data);
    },
    listArtifacts: ({ fingerprint, run_id }) =>
      parseAll(table, artifactRowSchema, KEYS.runParts(fingerprint, run_id), KEYS.ARTIFACT_PREFIX),
    writeArtifact: (row, artifact) => ({
      kind: 'put',
      key: KEYS.artifact(row.fingerprint, row.run_id, artifact.path),
      data: rowData(artifact),
      expires_at: runExpiry(row),
      if: { absent: true },
    }),
    writeActive: ({ fingerprint, run_id, timings }) => ({
      kind: 'put',
      key: KEYS.activeRun(run_id),
      data: { fingerprint, run_id, created_at: timings.queued_at } satisfies ActiveRunRow,
    }),
    deleteActive: (runId) => ({ kind: 'delete', key: KEYS.activeRun(runId) }),
    async findActive(runId) {
      const row = await table.get(KEYS.activeRun(runId));
      return row && activeRunRowSchema.parse(row.data);
    },
    listActive: () => listActive(table),
  };
}

async function* listActive(table: TableStore): AsyncGenerator<ActiveRunRow> {
  for (const pk of KEYS.activeRuns()) yield* await parseAll(table, activeRunRowSchema, pk);
}

async function parseAll<S extends z.ZodType>(
  table: TableStore,
  schema: S,
  pk: string,
  prefix?: string,
): Promise<z.output<S>[]> {
  return (await readAll(table, pk, prefix)).map((row) => schema.parse(row.data));
}
