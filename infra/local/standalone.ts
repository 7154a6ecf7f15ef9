/** The whole product in one process: the wiring that functions/runtime/aws is on AWS. */
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { handler as agents } from '../../functions/api/agents.ts';
import { handler as artifacts } from '../../functions/api/artifacts.ts';
import { handler as runs } from '../../functions/api/runs.ts';
import { handler as skillValidations } from '../../functions/api/skill-validations.ts';
import { handler as skills } from '../../functions/api/skills.ts';
import { STEP_HANDLERS } from '../../functions/run-steps/step-handlers.ts';
import { provideServices } from '../../functions/runtime/services.ts';
import {
  createInterpretedOrchestrator,
  type InterpretedOrchestratorDeps,
} from '../../shared/adapters/local/interpreted-orchestrator.ts';
import { noMetrics } from '../../shared/adapters/no-metrics.ts';
import { createHttpSandboxClient } from '../../shared/adapters/sandbox/http-sandbox-client.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { createUlidIds } from '../../shared/adapters/ulid-ids.ts';
import {
  type SandboxProfile,
  sandboxProfileSchema,
  sandboxProfilesSchema,
} from '../../shared/contracts/sandbox-profile.ts';
import { type ScopeBinding, scopeBindingsSchema } from '../../shared/contracts/scope.ts';
import { InvalidSettings, type Settings } from '../../shared/contracts/settings.ts';
import type { Logger } from '../../shared/ports/logger.ts';
import { createAgentRegistry } from '../../shared/services/agent-registry.ts';
import { createPackageReader } from '../../shared/services/package-reader.ts';
import { createRunBoundary, type RunBoundary } from '../../shared/services/run-boundary.ts';
import { createSkillRegistry } from '../../shared/services/skill-registry.ts';
import { createGateway } from './gateway/create-gateway.ts';
import { downloadsOf } from './gateway/downloads.ts';
import { LOCAL_BINDINGS, LOCAL_REGION, type LocalIdentity } from './local-identity.ts';
import { createLocalSandboxes } from './local-sandboxes.ts';
import { maintain } from './maintain.ts';
import { type LocalStores, openStores } from './open-stores.ts';
import { readSettingsFile } from './read-settings-file.ts';

export interface Standalone {
  readonly endpoint: string;
  readonly warnings: readonly string[];
  close(): Promise<void>;
}

const clock = systemClock;
const ids = createUlidIds();
const random = Math.random;
/** The machine waits between attempts as long as AWS needs; neighbours in one process need less. */
const RETRY_SCALE = 0.2;
/** Local Fargate has no rate limit to respect. */
const AWAIT_POLL_MS = 250;
const CLOSE_GRACE_MS = 2_000;

export async function startStandalone(
  settings: Settings,
  identity: LocalIdentity,
  logger: Logger,
): Promise<Standalone> {
  const profiles = sandboxProfiles(settings);
  const bindings = scopeBindings(settings);
  let endpoint = '';
  const stores = openStores(settings, { clock, ids, endpoint: () => endpoint });
  const sandboxes = await createLocalSandboxes({ ...settings, profiles, clock, logger });
  const stopping = new AbortController();
  const orchestrator = runMachine(logger, () => boundary);
  const metrics = noMetrics;
  const reader = createPackageReader({ ...stores, metrics });
  const shared = { ...stores, reader, clock, ids, random, logger, metrics };
  const boundary = createRunBoundary({
    ...shared,
    provisioner: sandboxes.provisioner,
    client: createHttpSandboxClient({ clock, ids }),
    orchestrator,
    profiles,
    quotas: { runs_at_once: settings.runs_at_once },
    poolSize: settings.sandbox_pool_size,
    awaitPollMs: AWAIT_POLL_MS,
    load: () => orchestrator.active,
    stopping: stopping.signal,
  });
  provideServices({
    ...shared,
    ...boundary,
    bindings,
    skills: createSkillRegistry(shared),
    agents: createAgentRegistry(shared),
  });
  const gateway = apiGateway(stores, identity, logger, settings.log_level === 'debug');
  endpoint = await listen(gateway, settings.port);
  await orchestrator.resumeAll(boundary.records.listActive());
  const stopMaintaining = maintain(stores, boundary, { clock, logger });
  return {
    endpoint,
    warnings: sandboxes.warnings,
    async close() {
      stopping.abort();
      const maintained = stopMaintaining();
      gateway.close();
      gateway.closeAllConnections();
      await orchestrator.close(CLOSE_GRACE_MS);
      await boundary.pool.drain();
      await maintained;
      await sandboxes.close();
      stores.table.close();
    },
  };
}

const apiGateway = (
  { links, objects }: LocalStores,
  identity: LocalIdentity,
  logger: Logger,
  accessLog: boolean,
): Server =>
  createGateway({
    handlers: { skills, 'skill-validations': skillValidations, agents, runs, artifacts },
    credentials: identity.credentials,
    region: LOCAL_REGION,
    downloads: downloadsOf(links, objects),
    clock,
    logger,
    accessLog,
  });

/** @param boundary read at the first failure: the machine is part of it. */
function runMachine(logger: Logger, boundary: () => RunBoundary) {
  const onFailedExecution: InterpretedOrchestratorDeps['onFailedExecution'] = async (run, error) => {
    const { steps } = boundary();
    await steps.recordFailure(run, error);
    await steps.teardown(run);
  };
  return createInterpretedOrchestrator({
    definition: JSON.parse(readFileSync(new URL('../run-machine.asl.json', import.meta.url), 'utf8')),
    handlers: STEP_HANDLERS,
    onFailedExecution,
    logger,
    retryScale: RETRY_SCALE,
  });
}

function scopeBindings({ scope_bindings_file }: Settings): readonly ScopeBinding[] {
  if (scope_bindings_file === undefined) return LOCAL_BINDINGS;
  return readSettingsFile('COGNITION_SCOPE_BINDINGS', scope_bindings_file, scopeBindingsSchema);
}

function sandboxProfiles({
  sandbox_profiles_file,
  sandbox_pool_size,
  max_tasks,
}: Settings): SandboxProfile[] {
  const profiles =
    sandbox_profiles_file === undefined
      ? [sandboxProfileSchema.parse({ name: 'default' })]
      : readSettingsFile('COGNITION_SANDBOX_PROFILES', sandbox_profiles_file, sandboxProfilesSchema);
  const pooled = sandbox_pool_size * profiles.length;
  if (pooled < max_tasks) return profiles;
  throw new InvalidSettings([
    `COGNITION_SANDBOX_POOL_SIZE ${sandbox_pool_size} for ${profiles.length} profiles would hold ${pooled} sandboxes ` +
      `and leave no run one of its own: raise COGNITION_MAX_TASKS (${max_tasks}) above it`,
  ]);
}

function listen(server: Server, port: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  server.once('error', (cause) =>
    reject(new InvalidSettings([`COGNITION_PORT ${port} cannot be used: ${cause.message}; choose another`])),
  );
  server.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
    const address = server.address();
    resolve(`http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : port}`);
  });
  return promise;
}
