/** The ECS calls of local Fargate: requests are parsed here, answered from the table, carried out by the runner. */
import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { SANDBOX_ENV } from '../../../shared/contracts/daemon.ts';
import { SANDBOX_FAMILY_PREFIX } from '../../../shared/contracts/ecs-task.ts';
import { idSchema } from '../../../shared/contracts/names.ts';
import { type SandboxProfile, sandboxProfileSchema } from '../../../shared/contracts/sandbox-profile.ts';
import { sha256Hex } from '../../../shared/domain/sha256.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import { EcsError } from './ecs-error.ts';
import {
  describeTasksSchema,
  listTasksSchema,
  type RunTaskMessage,
  runTaskSchema,
  stopTaskSchema,
} from './ecs-messages.ts';
import { clusterName, describeRecord, type TaskRecord, taskArn, taskIdOf } from './task-record.ts';
import type { TaskRunner } from './task-runner.ts';
import type { TaskTable } from './task-table.ts';

export interface EcsOperationsOptions {
  readonly table: TaskTable;
  readonly runner: TaskRunner;
  readonly profiles: readonly SandboxProfile[];
  readonly max_queued: number;
  /** How long DescribeTasks of one PENDING task may wait for its next status; 0 answers at once. */
  readonly describe_hold_ms: number;
  readonly clock: Clock;
}

export type EcsOperations = Readonly<Record<string, (body: unknown) => Promise<unknown>>>;

export function createEcsOperations(options: EcsOperationsOptions): EcsOperations {
  const start = taskStarter(options);
  return {
    RunTask: async (body) => start(parse(runTaskSchema, body)),
    DescribeTasks: async (body) => {
      const request = parse(describeTasksSchema, body);
      const find = (task: string) => options.table.find(clusterName(request.cluster), taskIdOf(task));
      const [only] = request.tasks;
      if (request.tasks.length === 1 && only !== undefined)
        await nextStatus(find(only), options.describe_hold_ms);
      const withTags = request.include.includes('TAGS');
      const found = request.tasks.map((task) => ({ task, record: find(task) }));
      return {
        tasks: found.flatMap(({ record }) =>
          record === undefined ? [] : [describeRecord(record, withTags)],
        ),
        failures: found.flatMap(({ task, record }) =>
          record === undefined ? [missing(request.cluster, task)] : [],
        ),
      };
    },
    StopTask: async (body) => {
      const request = parse(stopTaskSchema, body);
      const record = options.table.find(clusterName(request.cluster), taskIdOf(request.task));
      if (record === undefined) {
        throw new EcsError('InvalidParameterException', 'The referenced task was not found.');
      }
      options.runner.stop(record, request.reason ?? 'stopped by a caller');
      return { task: describeRecord(record, true) };
    },
    ListTasks: async (body) => {
      const request = parse(listTasksSchema, body);
      const filter = {
        cluster: clusterName(request.cluster),
        family: request.family,
        started_by: request.startedBy,
        desired: request.desiredStatus,
        after: Number(request.nextToken ?? 0),
      };
      const records = options.table.list(filter, request.maxResults + 1);
      const page = records.slice(0, request.maxResults);
      const last = page.at(-1);
      return {
        taskArns: page.map((record) => taskArn(record.cluster, record.id)),
        ...(records.length > page.length && last !== undefined ? { nextToken: String(last.sequence) } : {}),
      };
    },
  };
}

function parse<S extends z.ZodType>(schema: S, body: unknown): z.output<S> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new EcsError('InvalidParameterException', z.prettifyError(parsed.error), { cause: parsed.error });
}

const missing = (cluster: string, task: string) => ({
  arn: taskArn(clusterName(cluster), taskIdOf(task)),
  reason: 'MISSING',
});

/** A caller who waits for a task is answered when there is news, instead of asking again and again. */
function nextStatus(record: TaskRecord | undefined, holdMs: number): Promise<void> | undefined {
  if (record?.status !== 'PENDING' || holdMs === 0) return undefined;
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      record.watchers.delete(done);
      resolve();
    };
    const timer = setTimeout(done, holdMs);
    record.watchers.add(done);
  });
}

function taskStarter(options: EcsOperationsOptions): (request: RunTaskMessage) => unknown {
  let sequence = 0;
  return (request) => {
    const { clientToken, ...parameters } = request;
    const cluster = clusterName(request.cluster);
    const hash = sha256Hex(JSON.stringify(parameters));
    const used = clientToken === undefined ? undefined : options.table.tokens.get(cluster, clientToken);
    if (used !== undefined) return earlierAnswer(options.table, cluster, used, hash);
    const { profile, env, sandbox_id } = taskSettings(options.profiles, request);
    if (options.runner.counts().queued + request.count > options.max_queued) {
      return { tasks: [], failures: [{ reason: 'RESOURCE:FARGATE', detail: 'the queue of tasks is full' }] };
    }
    const records = Array.from({ length: request.count }, (): TaskRecord => {
      sequence += 1;
      return {
        sequence,
        id: randomUUID().replaceAll('-', ''),
        cluster,
        family: `${SANDBOX_FAMILY_PREFIX}${profile.name}`,
        sandbox_id,
        profile,
        tags: request.tags,
        started_by: request.startedBy,
        created_at: options.clock.now(),
        status: 'PROVISIONING',
        desired: 'RUNNING',
        watchers: new Set(),
      };
    });
    if (clientToken !== undefined) {
      const task_ids = records.map((record) => record.id);
      options.table.tokens.set(cluster, clientToken, { parameters_sha256: hash, task_ids });
    }
    for (const record of records) {
      options.table.add(record);
      options.runner.submit(record, env);
    }
    return { tasks: records.map((record) => describeRecord(record, true)), failures: [] };
  };
}

function earlierAnswer(
  table: TaskTable,
  cluster: string,
  used: { parameters_sha256: string; task_ids: readonly string[] },
  hash: string,
): unknown {
  if (used.parameters_sha256 !== hash) {
    const message = 'The clientToken was used with other parameters; use a new one, or the same parameters.';
    const resourceIds = used.task_ids.map((id) => taskArn(cluster, id));
    throw new EcsError('ConflictException', message, { fields: { resourceIds } });
  }
  const found = used.task_ids.map((id) => ({ id, record: table.find(cluster, id) }));
  return {
    tasks: found.flatMap(({ record }) => (record === undefined ? [] : [describeRecord(record, true)])),
    failures: found.flatMap(({ id, record }) => (record === undefined ? [missing(cluster, id)] : [])),
  };
}

/** What the daemon of the task gets; the profile comes from this server, whatever the request repeats of it. */
function taskSettings(
  profiles: readonly SandboxProfile[],
  request: RunTaskMessage,
): { profile: SandboxProfile; env: Record<string, string>; sandbox_id: string } {
  const family = taskIdOf(request.taskDefinition).replace(/:[0-9]+$/, '');
  const profile = profiles.find((one) => `${SANDBOX_FAMILY_PREFIX}${one.name}` === family);
  if (profile === undefined) {
    const known = profiles.map((one) => `${SANDBOX_FAMILY_PREFIX}${one.name}`).join(', ');
    throw new EcsError('ClientException', `TaskDefinition not found: ${family}; this server has ${known}.`);
  }
  const given: Record<string, string> = {};
  for (const override of request.overrides.containerOverrides) {
    for (const { name, value } of override.environment) given[name] = value;
  }
  const sandboxId = idSchema.safeParse(given[SANDBOX_ENV.sandboxId]);
  if (!sandboxId.success || given[SANDBOX_ENV.publicKey] === undefined) {
    const names = `${SANDBOX_ENV.sandboxId} (an id) and ${SANDBOX_ENV.publicKey}`;
    throw new EcsError('InvalidParameterException', `the container's environment must set ${names}`);
  }
  const repeated = given[SANDBOX_ENV.profile];
  if (repeated !== undefined && !sameProfile(repeated, profile)) {
    const message = `${SANDBOX_ENV.profile} differs from the profile ${profile.name} of this server; give both the same profiles`;
    throw new EcsError('InvalidParameterException', message);
  }
  const env = { ...given, [SANDBOX_ENV.profile]: JSON.stringify(profile) };
  return { profile, env, sandbox_id: sandboxId.data };
}

function sameProfile(text: string, profile: SandboxProfile): boolean {
  try {
    const parsed = sandboxProfileSchema.parse(JSON.parse(text));
    return JSON.stringify(parsed) === JSON.stringify(sandboxProfileSchema.parse(profile));
  } catch {
    return false;
  }
}
