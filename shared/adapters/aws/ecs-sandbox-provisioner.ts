/**
 * Sandbox tasks through the ECS API: Fargate, or local Fargate with AWS_ENDPOINT_URL_ECS. Overrides carry the
 * daemon's three variables and nothing else: no role, no image, no command, and nothing of a caller.
 */
import {
  DescribeTasksCommand,
  type ECSClient,
  InvalidParameterException,
  ListTasksCommand,
  RunTaskCommand,
  type RunTaskCommandInput,
  StopTaskCommand,
} from '@aws-sdk/client-ecs';
import * as z from 'zod';
import { SANDBOX_ENV } from '../../contracts/daemon.ts';
import { SANDBOX_CONTAINER, SANDBOX_STARTED_BY, SANDBOX_TAGS } from '../../contracts/ecs-task.ts';
import type { SandboxProfile } from '../../contracts/sandbox-profile.ts';
import { CognitionError } from '../../domain/cognition-error.ts';
import { TransientError } from '../../domain/transient-error.ts';
import type { LaunchSandbox, SandboxProvisioner, SandboxTask } from '../../ports/sandbox-provisioner.ts';
import { ecsFailure, launchFailure } from './ecs-failure.ts';
import { ecsFailureSchema, ecsTaskSchema, missingTask, toSandboxTask } from './ecs-task.ts';

/** The most that DescribeTasks and ListTasks take and give. */
const PAGE = 100;
const REASON_LENGTH = 255;

export interface EcsSandboxProvisionerOptions {
  readonly ecs: ECSClient;
  readonly cluster: string;
  readonly subnets: readonly string[];
  readonly securityGroups: readonly string[];
  /** Family, or ARN of a task definition, by the profile's name. */
  readonly taskDefinitions: Readonly<Record<string, string>>;
  /** By the profile's name. */
  readonly imageIdentities: Readonly<Record<string, string>>;
  readonly isolation: SandboxProvisioner['isolation'];
}

const tasksSchema = z.object({
  tasks: z.array(ecsTaskSchema).default([]),
  failures: z.array(ecsFailureSchema).default([]),
});
const pageSchema = z.object({
  taskArns: z.array(z.string()).default([]),
  nextToken: z.string().min(1).optional(),
});

export function createEcsSandboxProvisioner(options: EcsSandboxProvisionerOptions): SandboxProvisioner {
  const { ecs, cluster } = options;
  const describe = async (taskIds: readonly string[]): Promise<SandboxTask[]> => {
    const known = new Map<string, SandboxTask>();
    const wanted = [...new Set(taskIds)];
    for (let at = 0; at < wanted.length; at += PAGE) {
      const command = new DescribeTasksCommand({
        cluster,
        tasks: wanted.slice(at, at + PAGE),
        include: ['TAGS'],
      });
      const answer = await asked('DescribeTasks', () => ecs.send(command));
      const { tasks, failures } = tasksSchema.parse(answer);
      const failure = failures.find(({ reason }) => reason !== 'MISSING');
      if (failure !== undefined) throw new TransientError(`ECS DescribeTasks failed with ${failure.reason}`);
      for (const task of tasks) known.set(task.taskArn, toSandboxTask(task));
    }
    return taskIds.map((id) => known.get(id) ?? missingTask(id));
  };
  return {
    isolation: options.isolation,
    imageIdentity: async (profile) => ofProfile(options.imageIdentities, profile.name, 'image identity'),
    launch: async (request) => {
      const command = new RunTaskCommand(runTaskInput(options, request));
      const answer = await asked('RunTask', () => ecs.send(command));
      const { tasks, failures } = tasksSchema.parse(answer);
      const [task] = tasks;
      if (task !== undefined) return toSandboxTask(task);
      const [failure] = failures;
      // With the same client token it is safe to ask again.
      if (failure === undefined) throw new TransientError('ECS RunTask answered with no task and no failure');
      throw launchFailure(failure.reason, failure.detail);
    },
    describe,
    stop: async (taskId, reason) => {
      const command = new StopTaskCommand({ cluster, task: taskId, reason: reason.slice(0, REASON_LENGTH) });
      await asked('StopTask', () => ecs.send(command).catch(ignoreNotFound));
    },
    list: async () => {
      const arns: string[] = [];
      for (const definition of new Set(Object.values(options.taskDefinitions))) {
        arns.push(...(await listFamily(ecs, cluster, familyOf(definition))));
      }
      const tasks = await describe(arns);
      return tasks.filter((task) => task.status === 'starting' || task.status === 'running');
    },
  };
}

async function asked<T>(call: string, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (cause) {
    throw ecsFailure(call, cause);
  }
}

function ignoreNotFound(cause: unknown): void {
  if (cause instanceof InvalidParameterException && /not found/i.test(cause.message)) return;
  throw cause;
}

async function listFamily(ecs: ECSClient, cluster: string, family: string): Promise<string[]> {
  const arns: string[] = [];
  let nextToken: string | undefined;
  do {
    const page = { cluster, family, desiredStatus: 'RUNNING', maxResults: PAGE, nextToken } as const;
    const answer = pageSchema.parse(await asked('ListTasks', () => ecs.send(new ListTasksCommand(page))));
    arns.push(...answer.taskArns);
    nextToken = answer.nextToken;
  } while (nextToken !== undefined);
  return arns;
}

const familyOf = (definition: string): string =>
  definition.slice(definition.lastIndexOf('/') + 1).replace(/:[0-9]+$/, '');

function ofProfile(values: Readonly<Record<string, string>>, profile: string, what: string): string {
  const value = Object.hasOwn(values, profile) ? values[profile] : undefined;
  if (value !== undefined) return value;
  const fix = 'deploy the profile, or name another one in the agent';
  throw new CognitionError('sandbox_unavailable', `sandbox profile ${profile} has no ${what} here; ${fix}`);
}

function runTaskInput(options: EcsSandboxProvisionerOptions, request: LaunchSandbox): RunTaskCommandInput {
  const { sandbox_id, profile, run } = request;
  const tag = (key: string, value: string) => ({ key, value });
  return {
    cluster: options.cluster,
    taskDefinition: ofProfile(options.taskDefinitions, profile.name, 'task definition'),
    count: 1,
    launchType: 'FARGATE',
    clientToken: sandbox_id,
    startedBy: SANDBOX_STARTED_BY,
    enableExecuteCommand: false,
    networkConfiguration: {
      awsvpcConfiguration: {
        subnets: [...options.subnets],
        securityGroups: [...options.securityGroups],
        assignPublicIp: 'DISABLED',
      },
    },
    overrides: {
      containerOverrides: [{ name: SANDBOX_CONTAINER, environment: daemonEnvironment(request) }],
    },
    tags: [
      tag(SANDBOX_TAGS.sandboxId, sandbox_id),
      ...(run === undefined
        ? []
        : [tag(SANDBOX_TAGS.fingerprint, run.fingerprint), tag(SANDBOX_TAGS.runId, run.run_id)]),
    ],
  };
}

const daemonEnvironment = ({ sandbox_id, public_key, profile }: LaunchSandbox) => [
  { name: SANDBOX_ENV.sandboxId, value: sandbox_id },
  { name: SANDBOX_ENV.publicKey, value: public_key },
  { name: SANDBOX_ENV.profile, value: JSON.stringify(profile satisfies SandboxProfile) },
];
