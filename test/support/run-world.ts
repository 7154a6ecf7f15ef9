/** The whole run boundary over stores and sandboxes in memory, with the machine that AWS gets. */
import { readFileSync } from 'node:fs';
import { STEP_HANDLERS } from '../../functions/run-steps/step-handlers.ts';
import { provideServices, type Services, services } from '../../functions/runtime/services.ts';
import {
  createInterpretedOrchestrator,
  type InterpretedOrchestrator,
} from '../../shared/adapters/local/interpreted-orchestrator.ts';
import { noMetrics } from '../../shared/adapters/no-metrics.ts';
import { createUlidIds } from '../../shared/adapters/ulid-ids.ts';
import { createAgentSchema } from '../../shared/contracts/agent.ts';
import { createRunSchema, type Run } from '../../shared/contracts/run.ts';
import { type SandboxProfile, sandboxProfileSchema } from '../../shared/contracts/sandbox-profile.ts';
import type { RunRef } from '../../shared/contracts/workflow.ts';
import { scopeFingerprint } from '../../shared/domain/scope.ts';
import type { Logger } from '../../shared/ports/logger.ts';
import type { ObjectStore } from '../../shared/ports/object-store.ts';
import type { SandboxClient } from '../../shared/ports/sandbox-client.ts';
import type { SandboxProvisioner } from '../../shared/ports/sandbox-provisioner.ts';
import type { SkillPackageStore } from '../../shared/ports/skill-package-store.ts';
import type { TableStore } from '../../shared/ports/table-store.ts';
import { createAgentRegistry } from '../../shared/services/agent-registry.ts';
import { createPackageReader } from '../../shared/services/package-reader.ts';
import {
  createRunBoundary,
  type RunBoundary,
  type RunBoundaryDeps,
} from '../../shared/services/run-boundary.ts';
import { createSkillRegistry } from '../../shared/services/skill-registry.ts';
import { FakeSandboxes } from './fake-sandbox.ts';
import { memoryPackages } from './gated-stores.ts';
import { createTestClock, type TestClock } from './local-stores.ts';
import { memoryObjects } from './memory-objects.ts';
import { MemoryTable } from './memory-table.ts';
import { RecordingMetrics } from './recording-metrics.ts';
import { skillFiles } from './skill-files.ts';

export const FINGERPRINT = scopeFingerprint({ tenant: 'acme' });
export const OTHER_FINGERPRINT = scopeFingerprint({ tenant: 'other' });
export const RUN_MACHINE: unknown = JSON.parse(
  readFileSync(new URL('../../infra/run-machine.asl.json', import.meta.url), 'utf8'),
);

export interface Ports {
  readonly table: TableStore;
  readonly objects: ObjectStore;
  readonly packages: SkillPackageStore;
  readonly provisioner: SandboxProvisioner;
  readonly client: SandboxClient;
}

export interface Backstage extends Ports {
  readonly table: MemoryTable;
  readonly sandboxes: FakeSandboxes;
  readonly clock: TestClock;
}

/** What outlives a process: stores, the provider's tasks, time. */
export function createBackstage(): Backstage {
  const clock = createTestClock();
  const sandboxes = new FakeSandboxes(clock);
  return {
    table: new MemoryTable(),
    objects: memoryObjects(clock),
    packages: memoryPackages(),
    provisioner: sandboxes.provisioner,
    client: sandboxes.client,
    sandboxes,
    clock,
  };
}

export interface ProcessOptions {
  readonly ports?: Partial<Ports>;
  readonly poolSize?: number;
  readonly runsAtOnce?: number;
  readonly profiles?: readonly SandboxProfile[];
  readonly orchestrator?: 'machine' | 'none';
  /** How long the steps that wait may wait at once; default as in a process that nobody ends. */
  readonly bounds?: Partial<RunBoundaryDeps>;
  readonly handlers?: Partial<Record<keyof typeof STEP_HANDLERS, (event: unknown) => Promise<unknown>>>;
}

export interface TestProcess extends RunBoundary {
  readonly orchestrator: InterpretedOrchestrator;
  readonly metrics: RecordingMetrics;
  readonly log: { level: string; message: string; fields: Readonly<Record<string, unknown>> }[];
  /** Starts a run and follows it to its end, teardown included. */
  run(request: Record<string, unknown>): Promise<Run>;
  /** Resumes what an earlier process left, to its end. */
  resume(): Promise<void>;
}

export const DEFAULT_PROFILE = sandboxProfileSchema.parse({ name: 'default', env_names: ['MODE'] });

/** Reading the document takes much longer than a run in memory, so all processes share one machine. */
let shared: InterpretedOrchestrator | undefined;
let replaced: NonNullable<ProcessOptions['handlers']> = {};

function sharedMachine(handlers: NonNullable<ProcessOptions['handlers']>): InterpretedOrchestrator {
  replaced = handlers;
  shared ??= createInterpretedOrchestrator({
    definition: RUN_MACHINE,
    handlers: Object.fromEntries(
      Object.entries(STEP_HANDLERS).map(([state, handler]) => [
        state,
        (event: unknown) => (replaced[state as keyof typeof STEP_HANDLERS] ?? handler)(event),
      ]),
    ),
    onFailedExecution: async (run, failure) => {
      await services().steps.recordFailure(run, failure);
      await services().steps.teardown(run);
    },
    logger: {
      info: (...line) => services().logger.info(...line),
      warn: (...line) => services().logger.warn(...line),
      error: (...line) => services().logger.error(...line),
    },
    retryScale: 0,
  });
  return shared;
}

/** One life of a server on top of what outlives it. */
export function startProcess(backstage: Backstage, options: ProcessOptions = {}): TestProcess {
  const ports: Ports = { ...backstage, ...options.ports };
  const { clock } = backstage;
  const log: TestProcess['log'] = [];
  const write =
    (level: string) =>
    (message: string, fields = {}) =>
      void log.push({ level, message, fields });
  const logger: Logger = { info: write('info'), warn: write('warn'), error: write('error') };
  const orchestrator = sharedMachine(options.handlers ?? {});
  const ids = createUlidIds();
  const metrics = new RecordingMetrics();
  const boundary = createRunBoundary({
    ...ports,
    ...options.bounds,
    clock,
    ids,
    logger,
    metrics,
    random: Math.random,
    reader: createPackageReader({ packages: ports.packages, metrics }),
    orchestrator: options.orchestrator === 'none' ? { start: async () => undefined } : orchestrator,
    profiles: options.profiles ?? [DEFAULT_PROFILE],
    quotas: { runs_at_once: options.runsAtOnce ?? 10 },
    poolSize: options.poolSize ?? 0,
  });
  const { table } = ports;
  const unused = {} as Services;
  provideServices({ ...unused, table, clock, logger, metrics, bindings: [], ...boundary });
  return {
    ...boundary,
    orchestrator,
    log,
    metrics,
    async run(request) {
      const { run_id } = await boundary.runs.create(FINGERPRINT, createRunSchema.parse(request));
      await orchestrator.idle();
      return boundary.runs.get(FINGERPRINT, run_id);
    },
    async resume() {
      await orchestrator.resumeAll(boundary.records.listActive());
      await orchestrator.idle();
    },
  };
}

/** A skill with these files besides SKILL.md, published through the registry. */
export async function publishSkill(
  { table, packages, clock }: Backstage,
  name = 'report',
  files: Record<string, string> = { 'scripts/run.sh': '#!/bin/sh\necho hi\n' },
  fingerprint = FINGERPRINT,
): Promise<void> {
  const deps = {
    table,
    packages,
    clock,
    ids: createUlidIds(),
    random: Math.random,
    logger: quiet,
    metrics: noMetrics,
  };
  const registry = createSkillRegistry({ ...deps, reader: createPackageReader(deps) });
  const map = new Map(Object.entries(skillFiles(name, files)));
  await registry.put(fingerprint, name, { files: map, enabled: true }, {});
}

export async function putAgent(
  { table, clock }: Backstage,
  definition: Record<string, unknown> = {},
  fingerprint = FINGERPRINT,
): Promise<void> {
  const agents = createAgentRegistry({ table, clock, ids: createUlidIds(), random: Math.random });
  const agent = createAgentSchema.parse({ name: 'analyst', skills: ['report'], ...definition });
  await agents.put(fingerprint, agent, {});
}

const quiet: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

export const SCRIPT_RUN = {
  agent: 'analyst',
  command: { skill: 'report', script: 'scripts/run.sh', args: ['one'] },
};

export const refOf = ({ run_id }: { run_id: string }): RunRef => ({ fingerprint: FINGERPRINT, run_id });
