import type { SandboxProfile } from '../contracts/sandbox-profile.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { Logger } from '../ports/logger.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import type { RunOrchestrator } from '../ports/run-orchestrator.ts';
import type { SandboxClient } from '../ports/sandbox-client.ts';
import type { SandboxProvisioner } from '../ports/sandbox-provisioner.ts';
import type { SkillPackageStore } from '../ports/skill-package-store.ts';
import type { TableStore } from '../ports/table-store.ts';
import { createInputArtifacts, type InputArtifacts } from './input-artifacts.ts';
import type { PackageReader } from './package-reader.ts';
import { createAgentRecords } from './records/agent-records.ts';
import { createObjectRecords } from './records/object-records.ts';
import type { RunRecords } from './records/run-records.ts';
import { createSkillRecords } from './records/skill-records.ts';
import { createRunCore } from './run-core.ts';
import { createRunService, type RunService } from './run-service.ts';
import { createRunSkillResolver } from './run-skill-resolver.ts';
import { createRunSteps, type RunSteps } from './run-steps.ts';
import { createRunSweeper, type RunSweeper } from './run-sweeper.ts';
import { createSandboxArtifactCollector } from './sandbox-artifact-collector.ts';
import { createSandboxPool, type SandboxPool } from './sandbox-pool.ts';
import { createSandboxReaper, type SandboxReaper } from './sandbox-reaper.ts';
import { createSkillSandboxMaterializer } from './skill-sandbox-materializer.ts';

/** Everything that runs need, put together once for AWS and the standalone server. */
export interface RunBoundary {
  readonly runs: RunService;
  readonly steps: RunSteps;
  readonly inputs: InputArtifacts;
  readonly pool: SandboxPool;
  readonly sweeper: RunSweeper;
  readonly reaper: SandboxReaper;
  /** Its `listActive` is what a process that starts resumes. */
  readonly records: RunRecords;
}

export interface RunBoundaryDeps {
  readonly table: TableStore;
  readonly objects: ObjectStore;
  readonly packages: SkillPackageStore;
  readonly reader: PackageReader;
  readonly provisioner: SandboxProvisioner;
  readonly client: SandboxClient;
  readonly orchestrator: RunOrchestrator;
  readonly clock: Clock;
  readonly ids: Ids;
  /** In [0, 1). */
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly profiles: readonly SandboxProfile[];
  readonly quotas: { readonly runs_at_once: number };
  /** Sandboxes that this process keeps ready for each profile; 0 leaves pools to another, or is none. */
  readonly poolSize: number;
  /** Executions under way in this process, where the pool shares its CPU. */
  readonly load?: () => number;
  /** Bounds of one AwaitSandbox and one Execute call, in milliseconds; see the manager and the command. */
  readonly awaitBudgetMs?: number;
  readonly executeBudgetMs?: number;
  readonly awaitFirstPollMs?: number;
  readonly awaitPollMs?: number;
  readonly missingGraceMs?: number;
  /** See the pool. */
  readonly startDeadlineMs?: number;
  readonly startPollMs?: number;
  readonly startsAtOnce?: number;
  /** Makes steps that wait come back soon when the process is to end. */
  readonly stopping?: AbortSignal;
}

export function createRunBoundary(deps: RunBoundaryDeps): RunBoundary {
  const { table } = deps;
  const core = createRunCore({
    ...deps,
    ...(deps.poolSize === 0 ? {} : { onClaim: () => pool.claimed() }),
  });
  const inputs = createInputArtifacts(deps);
  const resolver = createRunSkillResolver({
    ...deps,
    agents: createAgentRecords(table),
    skills: createSkillRecords(table),
    objects: createObjectRecords(table),
    packages: deps.reader,
    backend: deps.packages.backend,
  });
  const pool = createSandboxPool({ ...deps, ...core, size: deps.poolSize });
  const parts = { ...deps, ...core, inputs, resolver };
  const steps = createRunSteps({
    ...parts,
    materializer: createSkillSandboxMaterializer({ ...deps, packages: deps.reader }),
    collector: createSandboxArtifactCollector(parts),
  });
  return {
    runs: createRunService(parts),
    steps,
    inputs,
    pool,
    sweeper: createRunSweeper({ ...parts, steps }),
    reaper: createSandboxReaper(parts),
    records: core.runs,
  };
}
