import type { NewEvent } from '../../contracts/event.ts';
import type { Manifest } from '../../contracts/manifest.ts';
import type { RunRow } from '../../contracts/rows.ts';
import type { Clock } from '../../ports/clock.ts';
import type { RunRecords } from '../records/run-records.ts';
import type { RunChange, RunRecorder } from '../run-recorder.ts';
import type { RunSteps } from '../run-steps.ts';
import type { SandboxManager } from '../sandbox-manager.ts';
import type { SkillSandboxMaterializer } from '../skill-sandbox-materializer.ts';
import { enterStep, pinnedManifest } from './enter-step.ts';
import { withSandbox } from './with-sandbox.ts';

export interface MaterializingStepDeps {
  readonly runs: RunRecords;
  readonly recorder: RunRecorder;
  readonly manager: SandboxManager;
  readonly materializer: SkillSandboxMaterializer;
  readonly clock: Clock;
}

export function createMaterializingStep(deps: MaterializingStepDeps): Pick<RunSteps, 'materialize'> {
  const { clock, materializer, recorder } = deps;
  return {
    async materialize(run) {
      const entered = await enterStep(deps, run, 'materializing', 'materializing');
      if (entered === undefined) return;
      const pinned = await pinnedManifest(deps, entered);
      await withSandbox(deps, run, (sandbox) => materializer.materialize(run.fingerprint, sandbox, pinned));
      await recorder.record(run, (row) => sealed(row, pinned.manifest, new Date(clock.now()).toISOString()));
    },
  };
}

function sealed(row: RunRow, { packages, inputs }: Manifest, sealed_at: string): RunChange | undefined {
  if (row.status !== 'materializing') return undefined;
  const materialized = packages.map(
    ({ name, revision, digest, size_bytes }): NewEvent => ({
      type: 'package.materialized',
      stage: 'materialize',
      data: { name, revision, digest, size_bytes },
    }),
  );
  const counts = { packages: packages.length, inputs: inputs.length };
  return {
    moves: ['running'],
    set: { stage: 'execute' },
    timings: { sealed_at },
    events: [...materialized, { type: 'sandbox.sealed', stage: 'materialize', data: counts }],
  };
}
