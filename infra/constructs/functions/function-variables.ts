import type * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import { functionVariables } from '../../../shared/contracts/function-environment.ts';
import type { FunctionSpec } from '../../functions/function-table.ts';
import type { SandboxTask } from '../sandbox/sandbox-task.ts';
import type { FunctionContext } from './cognition-function.ts';

/** The environment of one function: the variables that its spec needs, and no other. */
export function functionEnvironment(
  spec: FunctionSpec,
  context: FunctionContext,
  stateMachine: sfn.IStateMachine | undefined,
): Readonly<Record<string, string>> {
  const values = valuesOf(context, stateMachine);
  const needed = functionVariables(spec).flatMap((name) => {
    const value = values[name]?.();
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(needed),
    ...(spec.vpc ? { AWS_ACCOUNT_ID_ENDPOINT_MODE: 'disabled' } : {}),
    ...(spec.kind === 'api' ? unsafeCaller(context) : {}),
    ...(spec.ecs.length > 0 ? ecsEndpoint(context) : {}),
  };
}

/** What each variable may hold; undefined where the deployment has nothing to say. */
function valuesOf(
  { settings, storage, network, sandbox }: FunctionContext,
  stateMachine: sfn.IStateMachine | undefined,
): Readonly<Record<string, () => string | undefined>> {
  const { packages } = settings;
  // Who starts tasks elsewhere knows families; an emulator without ECS has no definitions to refer to.
  const elsewhere = settings.emulator?.endpoint_url_ecs !== undefined;
  const taskDefinition = (task: SandboxTask | undefined): string | undefined =>
    elsewhere ? task?.family : task?.taskDefinitionArn;
  const byProfile = (value: (profile: string) => string | undefined): string =>
    JSON.stringify(Object.fromEntries(settings.profiles.map(({ name }) => [name, value(name)])));
  return {
    COGNITION_ENVIRONMENT: () => settings.environment,
    COGNITION_LOG_LEVEL: () => settings.log_level,
    COGNITION_DEPLOYMENT: () => settings.deployment,
    COGNITION_SKILLS_BACKEND: () => packages.backend,
    COGNITION_TABLE: () => storage.table.tableName,
    COGNITION_ARTIFACTS_BUCKET: () => storage.artifacts.bucketName,
    COGNITION_SKILLS_S3_BUCKET: () => storage.packages?.bucketName,
    COGNITION_SKILLS_S3_PREFIX: () =>
      packages.backend === 's3' && packages.prefix !== '' ? packages.prefix : undefined,
    COGNITION_STATE_MACHINE_ARN: () => stateMachine?.stateMachineArn,
    COGNITION_RUNS_AT_ONCE: () => String(settings.runs_at_once),
    COGNITION_IMAGE_IDENTITIES: () => byProfile((profile) => sandbox.imageIdentities[profile]),
    COGNITION_CLUSTER: () => sandbox.cluster.clusterName,
    COGNITION_TASK_DEFINITIONS: () =>
      byProfile((profile) => taskDefinition(sandbox.taskDefinitions[profile])),
    COGNITION_SANDBOX_SUBNETS: () => network.sandboxSubnets.map(({ subnetId }) => subnetId).join(','),
    COGNITION_SANDBOX_SECURITY_GROUPS: () => network.sandboxSecurityGroup.securityGroupId,
    COGNITION_SANDBOX_POOL_SIZE: () => String(settings.sandbox_pool_size),
  };
}

/** Emulators whose API Gateway names no caller. */
function unsafeCaller({ settings: { emulator } }: FunctionContext): Readonly<Record<string, string>> {
  return emulator === undefined ? {} : { COGNITION_UNSAFE_CALLER: emulator.unsafe_caller };
}

/** Emulators that start tasks elsewhere than they do all else. */
function ecsEndpoint({ settings }: FunctionContext): Readonly<Record<string, string>> {
  const endpoint = settings.emulator?.endpoint_url_ecs;
  return endpoint === undefined ? {} : { AWS_ENDPOINT_URL_ECS: endpoint };
}
