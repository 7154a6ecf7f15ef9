/**
 * Every Lambda function of a deployment as data: which handler it runs, where, and what it may touch. The bundler,
 * the stacks, the IAM grants and the tests of all three read this one table.
 */
import { ROUTES } from '../../shared/contracts/routes.ts';

export type EcsCall = 'RunTask' | 'DescribeTasks' | 'StopTask' | 'ListTasks';

export interface FunctionSpec {
  /** The Lambda function is `<deployment>-<name>`. */
  readonly name: string;
  /** Module that exports `handler`, from the root of the project. */
  readonly handler: string;
  readonly kind: 'api' | 'step' | 'maintenance';
  /** Reaches sandboxes, so it lives in the functions' subnets; every other one is outside the VPC. */
  readonly vpc: boolean;
  readonly memory_mb: number;
  readonly timeout_seconds: number;
  readonly table: 'none' | 'read_write';
  /** Whether it may touch rows of skills, agents and inputs; who only looks after runs and their sandboxes may not. */
  readonly registry: boolean;
  /** Whether it may read the private keys of sandboxes. */
  readonly sandbox_keys: boolean;
  readonly packages: 'none' | 'read' | 'read_write' | 'delete';
  /** What runs have put out. */
  readonly artifacts: 'none' | 'read' | 'write';
  /** What callers have uploaded for runs. */
  readonly inputs: 'none' | 'read' | 'read_write';
  readonly ecs: readonly EcsCall[];
  readonly starts_runs: boolean;
}

const NOTHING = {
  vpc: false,
  memory_mb: 1_024,
  table: 'read_write',
  registry: false,
  sandbox_keys: false,
  packages: 'none',
  artifacts: 'none',
  inputs: 'none',
  ecs: [],
  starts_runs: false,
} as const satisfies Partial<FunctionSpec>;

/** API Gateway gives up after 29 seconds. */
const API_SECONDS = 29;
/** Below the 75 seconds that the machine waits for a state. */
const STEP_SECONDS = 60;
/** Hashing and JSON of the largest packages and outputs want a whole core. */
const ONE_CORE_MB = 1_769;
/** What waits for a sandbox or a command is paid by memory and time, and does little meanwhile. */
const WAITING_MB = 512;
const STOPPING: readonly EcsCall[] = ['StopTask', 'DescribeTasks', 'ListTasks'];

type Own = Pick<FunctionSpec, 'name'> & Partial<FunctionSpec>;

const api = (own: Own): FunctionSpec => ({
  ...NOTHING,
  kind: 'api',
  registry: true,
  handler: `functions/api/${own.name}.ts`,
  timeout_seconds: API_SECONDS,
  ...own,
});
const step = (own: Own): FunctionSpec => ({
  ...NOTHING,
  kind: 'step',
  handler: `functions/run-steps/${own.name}.ts`,
  timeout_seconds: STEP_SECONDS,
  ...own,
});
const maintenance = (own: Own): FunctionSpec => ({
  ...NOTHING,
  kind: 'maintenance',
  handler: `functions/maintenance/${own.name}.ts`,
  timeout_seconds: 300,
  ...own,
});

export const FUNCTIONS: readonly FunctionSpec[] = [
  api({ name: 'skills', packages: 'read_write', memory_mb: ONE_CORE_MB }),
  api({ name: 'skill-validations', table: 'none', memory_mb: ONE_CORE_MB }),
  api({ name: 'agents' }),
  api({ name: 'runs', packages: 'read', artifacts: 'read', ecs: STOPPING, starts_runs: true }),
  api({ name: 'artifacts', inputs: 'read_write' }),

  step({ name: 'pin-manifest', registry: true, packages: 'read' }),
  step({
    name: 'launch-sandbox',
    vpc: true,
    sandbox_keys: true,
    ecs: ['RunTask', 'DescribeTasks', 'StopTask'],
  }),
  step({ name: 'await-sandbox', memory_mb: WAITING_MB, vpc: true, ecs: ['DescribeTasks'] }),
  step({
    name: 'materialize',
    vpc: true,
    memory_mb: ONE_CORE_MB,
    timeout_seconds: 280,
    sandbox_keys: true,
    packages: 'read',
    inputs: 'read',
    ecs: ['DescribeTasks'],
  }),
  step({ name: 'execute', memory_mb: WAITING_MB, vpc: true, sandbox_keys: true, ecs: ['DescribeTasks'] }),
  step({
    name: 'collect-artifacts',
    vpc: true,
    memory_mb: ONE_CORE_MB,
    timeout_seconds: 280,
    sandbox_keys: true,
    artifacts: 'write',
    ecs: ['DescribeTasks'],
  }),
  step({ name: 'finish' }),
  step({ name: 'record-failure' }),
  step({ name: 'teardown', ecs: STOPPING }),

  maintenance({ name: 'execution-ended', timeout_seconds: 60, ecs: STOPPING }),
  maintenance({ name: 'sweeper', ecs: STOPPING, starts_runs: true }),
  maintenance({ name: 'reaper', ecs: STOPPING }),
  maintenance({ name: 'gc', registry: true, packages: 'delete', timeout_seconds: 900 }),
  maintenance({
    name: 'pool',
    vpc: true,
    sandbox_keys: true,
    ecs: ['RunTask', 'DescribeTasks', 'StopTask'],
  }),
];

export function functionSpec(name: string): FunctionSpec {
  const spec = FUNCTIONS.find((one) => one.name === name);
  if (spec === undefined) throw new Error(`there is no function "${name}" in the table`);
  return spec;
}

/** The state `PinManifest` of the machine is the function `pin-manifest`. */
export const functionOfState = (state: string): FunctionSpec =>
  functionSpec(state.replace(/[A-Z]/g, (letter, at) => `${at === 0 ? '' : '-'}${letter.toLowerCase()}`));

/** Every function that the route table names exists. */
for (const route of ROUTES) functionSpec(route.function);
