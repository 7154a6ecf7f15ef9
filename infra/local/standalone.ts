/** The whole product in one process: the wiring that functions/runtime/aws is on AWS. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { handler as agents } from '../../functions/api/agents.ts';
import { handler as artifacts } from '../../functions/api/artifacts.ts';
import { handler as runs } from '../../functions/api/runs.ts';
import { handler as skillValidations } from '../../functions/api/skill-validations.ts';
import { handler as skills } from '../../functions/api/skills.ts';
import { STEP_HANDLERS } from '../../functions/run-steps/step-handlers.ts';
import { provideServices } from '../../functions/runtime/services.ts';
import { createConfigRegistryPackageStore } from '../../shared/adapters/config-registry/config-registry-package-store.ts';
import { createDownloadLinks } from '../../shared/adapters/local/download-links.ts';
import { createFilesystemObjectStore } from '../../shared/adapters/local/filesystem-object-store.ts';
import { createInterpretedOrchestrator } from '../../shared/adapters/local/interpreted-orchestrator.ts';
import { createSqliteTableStore } from '../../shared/adapters/local/sqlite-table-store.ts';
import { createObjectPackageStore } from '../../shared/adapters/object-package-store.ts';
import { createHttpSandboxClient } from '../../shared/adapters/sandbox/http-sandbox-client.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { createUlidIds } from '../../shared/adapters/ulid-ids.ts';
import { sandboxProfileSchema, sandboxProfilesSchema } from '../../shared/contracts/sandbox-profile.ts';
import { scopeBindingsSchema } from '../../shared/contracts/scope.ts';
import { InvalidSettings, type Settings } from '../../shared/contracts/settings.ts';
import type { Logger } from '../../shared/ports/logger.ts';
import type { ObjectStore } from '../../shared/ports/object-store.ts';
import type { SkillPackageStore } from '../../shared/ports/skill-package-store.ts';
import type { TableStore } from '../../shared/ports/table-store.ts';
import { createAgentRegistry } from '../../shared/services/agent-registry.ts';
import { createExpiredObjectCollector } from '../../shared/services/expired-object-collector.ts';
import { createPackageCollector } from '../../shared/services/package-collector.ts';
import { createPackageReader } from '../../shared/services/package-reader.ts';
import { createObjectRecords } from '../../shared/services/records/object-records.ts';
import { createRunBoundary } from '../../shared/services/run-boundary.ts';
import { createSkillRegistry } from '../../shared/services/skill-registry.ts';
import { createGateway } from './gateway/create-gateway.ts';
import { downloadsOf } from './gateway/downloads.ts';
import { LOCAL_BINDINGS, LOCAL_REGION, type LocalIdentity } from './local-identity.ts';
import { createLocalSandboxes } from './local-sandboxes.ts';
import { readSettingsFile } from './read-settings-file.ts';
import { repeat } from './repeat.ts';

export interface Standalone {
  readonly endpoint: string;
  readonly warnings: readonly string[];
  close(): Promise<void>;
}

const clock = systemClock;
const ids = createUlidIds();
const random = Math.random;

export async function startStandalone(
  settings: Settings,
  identity: LocalIdentity,
  logger: Logger,
): Promise<Standalone> {
  mkdirSync(settings.data_dir, { recursive: true, mode: 0o700 });
  const table = createSqliteTableStore({ path: join(settings.data_dir, 'table.sqlite'), clock, ids });
  let endpoint = '';
  const links = createDownloadLinks({
    secret: downloadSecret(settings.data_dir),
    get base_url() {
      return endpoint;
    },
    clock,
  });
  const objectsIn = (root: string): ObjectStore =>
    createFilesystemObjectStore({ root, clock, signDownload: links.sign });
  const objects = objectsIn(join(settings.data_dir, 'objects'));
  const packages = packageStore(settings, table, objectsIn);
  const profiles = sandboxProfiles(settings);
  const sandboxes = await createLocalSandboxes({ ...settings, profiles, clock, logger });
  const reader = createPackageReader({ packages });
  const stopping = new AbortController();
  const orchestrator = createInterpretedOrchestrator({
    definition: JSON.parse(readFileSync(new URL('../run-machine.asl.json', import.meta.url), 'utf8')),
    handlers: STEP_HANDLERS,
    onFailedExecution: async (run, error) => {
      await boundary.steps.recordFailure(run, error);
      await boundary.steps.teardown(run);
    },
    logger,
    retryScale: 0.2,
  });
  const shared = { table, objects, packages, reader, clock, ids, random, logger };
  const boundary = createRunBoundary({
    ...shared,
    provisioner: sandboxes.provisioner,
    client: createHttpSandboxClient({ clock, ids }),
    orchestrator,
    profiles,
    quotas: { runs_at_once: settings.runs_at_once },
    poolSize: settings.sandbox_pool_size,
    load: () => orchestrator.active,
    stopping: stopping.signal,
  });
  provideServices({
    ...shared,
    bindings:
      settings.scope_bindings_file === undefined
        ? LOCAL_BINDINGS
        : readSettingsFile('COGNITION_SCOPE_BINDINGS', settings.scope_bindings_file, scopeBindingsSchema),
    skills: createSkillRegistry(shared),
    agents: createAgentRegistry(shared),
    runs: boundary.runs,
    inputs: boundary.inputs,
    steps: boundary.steps,
  });
  const gateway = createGateway({
    handlers: { skills, 'skill-validations': skillValidations, agents, runs, artifacts },
    credentials: identity.credentials,
    region: LOCAL_REGION,
    downloads: downloadsOf(links, objects),
    clock,
    logger,
  });
  endpoint = await listen(gateway, settings.port);
  await orchestrator.resumeAll(boundary.records.listActive());
  void boundary.pool.fill();
  const collector = createPackageCollector({ ...shared, objects: createObjectRecords(table) });
  const expired = createExpiredObjectCollector({ objects, clock });
  const schedules = [
    repeat('pool', 5, () => boundary.pool.fill(), logger),
    repeat('sweeper', 5, () => boundary.sweeper.sweep(), logger),
    repeat('reaper', 30, () => boundary.reaper.reap(), logger),
    repeat('expired rows', 60, () => table.purgeExpired(), logger),
    repeat('packages', 600, () => collector.collect(), logger),
    repeat('expired objects', 3_600, () => expired.collect(), logger),
  ];
  return {
    endpoint,
    warnings: sandboxes.warnings,
    async close() {
      for (const stop of schedules) stop();
      stopping.abort();
      gateway.close();
      gateway.closeAllConnections();
      await orchestrator.close(2_000);
      await boundary.pool.drain();
      await sandboxes.close();
      table.close();
    },
  };
}

function packageStore(
  { packages, data_dir }: Settings,
  table: TableStore,
  objectsIn: (root: string) => ObjectStore,
): SkillPackageStore {
  switch (packages.backend) {
    case 'config_registry':
      return createConfigRegistryPackageStore({ table });
    case 'filesystem':
      return createObjectPackageStore({
        objects: objectsIn(packages.root ?? join(data_dir, 'skills')),
        backend: 'filesystem',
      });
    case 's3':
      throw new InvalidSettings([
        'COGNITION_SKILLS_BACKEND s3 needs AWS: use config_registry or filesystem here',
      ]);
  }
}

function sandboxProfiles({ sandbox_profiles_file }: Settings) {
  if (sandbox_profiles_file === undefined) return [sandboxProfileSchema.parse({ name: 'default' })];
  return readSettingsFile('COGNITION_SANDBOX_PROFILES', sandbox_profiles_file, sandboxProfilesSchema);
}

/** Kept, so that a link survives a restart within its minute. */
function downloadSecret(folder: string): Uint8Array {
  const file = join(folder, 'download-secret');
  if (!existsSync(file)) writeFileSync(file, randomBytes(32), { mode: 0o600 });
  return readFileSync(file);
}

function listen(server: ReturnType<typeof createGateway>, port: number): Promise<string> {
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
