import type { TableStore } from '../ports/table-store.ts';
import { createEventRecords, type EventRecords } from './records/event-records.ts';
import { createRunRecords, type RunRecords } from './records/run-records.ts';
import { createSandboxRecords, type SandboxRecords } from './records/sandbox-records.ts';
import { createRunRecorder, type RunRecorder } from './run-recorder.ts';
import { createRunRequestBlobs, type RunRequestBlobs } from './runs/run-request-blobs.ts';
import { createRunStreams, type RunStreams } from './runs/run-streams.ts';
import { createSandboxManager, type SandboxManager, type SandboxManagerDeps } from './sandbox-manager.ts';

/** What every part of the run boundary is built on: the rows of runs and their sandboxes. */
export interface RunCore {
  readonly runs: RunRecords;
  readonly events: EventRecords;
  readonly sandboxes: SandboxRecords;
  readonly recorder: RunRecorder;
  readonly requests: RunRequestBlobs;
  readonly streams: RunStreams;
  readonly manager: SandboxManager;
}

export interface RunCoreDeps extends Omit<SandboxManagerDeps, 'runs' | 'sandboxes' | 'recorder'> {
  readonly table: TableStore;
}

export function createRunCore(deps: RunCoreDeps): RunCore {
  const { table, clock } = deps;
  const runs = createRunRecords({ table, clock });
  const events = createEventRecords(table);
  const sandboxes = createSandboxRecords(table);
  const recorder = createRunRecorder({ ...deps, runs, events });
  return {
    runs,
    events,
    sandboxes,
    recorder,
    requests: createRunRequestBlobs(table),
    streams: createRunStreams(table),
    manager: createSandboxManager({ ...deps, runs, sandboxes, recorder }),
  };
}
