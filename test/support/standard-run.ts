/** The run that prices and counted calls are about, through the real handlers, each state in a process of its own. */
import { STEP_HANDLERS } from '../../functions/run-steps/step-handlers.ts';
import { DEPLOYED_BOUNDS } from '../../functions/runtime/aws/wiring/deployed-bounds.ts';
import { provideServices, services } from '../../functions/runtime/services.ts';
import type { Calls } from '../../infra/price/calls.ts';
import { STANDARD_RUN } from '../../infra/price/standard-run.ts';
import { createConfigRegistryPackageStore } from '../../shared/adapters/config-registry/config-registry-package-store.ts';
import { createObjectPackageStore } from '../../shared/adapters/object-package-store.ts';
import { encodeScopeRef } from '../../shared/domain/scope.ts';
import type { SandboxTask } from '../../shared/ports/sandbox-provisioner.ts';
import { ACCOUNT, ROLE } from './api-fakes.ts';
import { type Answer, call, type RequestParts } from './api-requests.ts';
import { CallMeter } from './call-meter.ts';
import {
  type Backstage,
  createBackstage,
  FINGERPRINT,
  type Ports,
  publishSkill,
  putAgent,
  startProcess,
} from './run-world.ts';

export interface CountedRun {
  readonly sections: ReadonlyMap<string, Calls>;
  /** By section, as CallMeter has it. */
  readonly touched: ReadonlyMap<string, ReadonlySet<string>>;
  /** States entered, choices included, as Step Functions bills them. */
  readonly transitions: number;
  readonly run: { readonly status: string; readonly timings: Readonly<Record<string, string | null>> };
}

const REF = encodeScopeRef({ tenant: 'acme' });
const BINDING = { account_id: ACCOUNT, role_id: ROLE, scopes: [{ tenant: '*' }] };
/** States that a choice follows. */
const LOOPED: readonly string[] = ['AwaitSandbox', 'Execute'];

export type Backend = 's3' | 'config_registry';

/** Seconds that the launch and the command take. */
export interface Waits {
  readonly launch_seconds: number;
  readonly command_seconds: number;
}

export async function countStandardRun(
  backend: Backend = 's3',
  waits: Waits = STANDARD_RUN,
): Promise<CountedRun> {
  const { meter, ask, machine } = await prepare(backend, waits);
  const created = await ask('createRun', {
    json: {
      agent: 'analyst',
      command: { skill: 'report', script: 'scripts/run.sh', args: ['--top', '5'] },
      stdin: 'x'.repeat(STANDARD_RUN.stdin_bytes),
    },
    headers: { 'idempotency-key': 'one', 'content-type': 'application/json' },
  });
  const params = { runId: String(created.json.run_id) };
  await ask('listRunEvents, in vain', { params, query: { after: '1', wait_seconds: '20' } });
  await machine(params.runId);
  await ask('listRunEvents', { params, query: { after: '1' } });
  const run = (await ask('getRun', { params })).json;
  await ask('getRunArtifacts', { params });
  await ask('getRunArtifacts, bytes', { params, query: { path: 'report.json' } });
  const looped = LOOPED.reduce((sum, state) => sum + (meter.begun.get(state) ?? 0), 0);
  const entered = Object.keys(STEP_HANDLERS).reduce((sum, state) => sum + (meter.begun.get(state) ?? 0), 0);
  return { sections: meter.sections, touched: meter.touched, transitions: entered + looped, run };
}

async function prepare(backend: Backend, waits: Waits) {
  const meter = new CallMeter();
  const world = createBackstage();
  const ports = meteredPorts(meter, world, backend, waits);
  await publishAndAttach(meter, world, ports, waits);
  /** Caches are cold, as after the start of a function. */
  const newProcess = (orchestrator: 'machine' | 'none') => {
    const process = startProcess(world, { ports, handlers, orchestrator, bounds: DEPLOYED_BOUNDS });
    provideServices({ ...services(), bindings: [BINDING] });
    return process;
  };
  const handlers = Object.fromEntries(
    Object.entries(STEP_HANDLERS).map(([state, handler]) => [
      state,
      async (event: unknown) => {
        meter.begin(state);
        newProcess('machine');
        return handler(event);
      },
    ]),
  );
  return {
    meter,
    ask: async (section: string, parts: RequestParts): Promise<Answer> => {
      meter.begin(section);
      newProcess('none');
      const answer = await call(section.split(',')[0] ?? '', { ref: REF, ...parts });
      if (answer.status >= 300) throw new Error(`${section}: ${answer.text}`);
      return answer;
    },
    machine: async (run_id: string): Promise<void> => {
      const { orchestrator } = newProcess('machine');
      await orchestrator.start({ fingerprint: FINGERPRINT, run_id });
      await orchestrator.idle();
    },
  };
}

function meteredPorts(
  meter: CallMeter,
  world: Backstage,
  backend: Backend,
  { launch_seconds }: Waits,
): Omit<Ports, 'client'> {
  const table = meter.table(world.table);
  const objects = meter.objects(world.objects);
  const packages =
    backend === 's3'
      ? createObjectPackageStore({ objects, backend: 's3' })
      : createConfigRegistryPackageStore({ table });
  return { table, objects, packages, provisioner: meter.provisioner(slowStart(world, launch_seconds)) };
}

async function publishAndAttach(
  meter: CallMeter,
  world: Backstage,
  ports: Omit<Ports, 'client'>,
  { command_seconds }: Waits,
): Promise<void> {
  const { skill_bytes, stdout_bytes, output_bytes } = STANDARD_RUN;
  const metered = { ...world, ...ports, table: ports.table as Backstage['table'] };
  meter.begin('putSkill');
  const script = `#!/bin/sh\n${'#'.repeat(skill_bytes)}\n`;
  await publishSkill(metered, 'report', { 'scripts/run.sh': script });
  meter.begin('putAgent');
  await putAgent(metered);
  world.sandboxes.script = {
    stdout: 'x'.repeat(stdout_bytes),
    duration: command_seconds * 1_000,
    outputs: { 'report.json': 'x'.repeat(output_bytes) },
  };
}

/** The tasks of the world, which take as long to start as a Fargate task does. */
function slowStart({ sandboxes, clock }: Backstage, seconds: number): Backstage['provisioner'] {
  const { provisioner } = sandboxes;
  const begun = new Map<string, number>();
  const starting = (task: SandboxTask): SandboxTask =>
    clock.now() - (begun.get(task.task_id) ?? 0) < seconds * 1_000
      ? { ...task, status: 'starting', address: undefined }
      : task;
  return {
    get isolation() {
      return provisioner.isolation;
    },
    imageIdentity: (profile) => provisioner.imageIdentity(profile),
    launch: async (request) => {
      const task = await provisioner.launch(request);
      begun.set(task.task_id, clock.now());
      return task;
    },
    describe: async (ids) => (await provisioner.describe(ids)).map(starting),
    stop: (id, reason) => provisioner.stop(id, reason),
    list: () => provisioner.list(),
  };
}
