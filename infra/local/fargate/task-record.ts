/** One task as the server knows it, and as ECS describes it. */
import { SANDBOX_CONTAINER, SANDBOX_PORT_DETAIL } from '../../../shared/contracts/ecs-task.ts';
import type { SandboxProfile } from '../../../shared/contracts/sandbox-profile.ts';
import type { EcsTag } from './ecs-messages.ts';

const ACCOUNT = 'arn:aws:ecs:us-east-1:000000000000';

export type TaskStatus = 'PROVISIONING' | 'PENDING' | 'RUNNING' | 'STOPPING' | 'STOPPED';
export type StopCode = 'UserInitiated' | 'EssentialContainerExited' | 'TaskFailedToStart';

export interface TaskRecord {
  /** Ascending in order of creation: the cursor of ListTasks. */
  readonly sequence: number;
  readonly id: string;
  readonly cluster: string;
  readonly family: string;
  readonly sandbox_id: string;
  readonly profile: SandboxProfile;
  readonly tags: readonly EcsTag[];
  readonly started_by: string | undefined;
  /** Milliseconds since the epoch, here and below. */
  readonly created_at: number;
  status: TaskStatus;
  desired: 'RUNNING' | 'STOPPED';
  started_at?: number;
  stopping_at?: number;
  stopped_at?: number;
  stop_code?: StopCode;
  stopped_reason?: string;
  exit_code?: number;
  address?: { readonly host: string; readonly port: number };
  /** Called once at the next change of status. */
  readonly watchers: Set<() => void>;
}

/** The cluster's name out of a name or an ARN. */
export const clusterName = (cluster: string): string => cluster.slice(cluster.lastIndexOf('/') + 1);

/** The task's id out of an id or an ARN. */
export const taskIdOf = (task: string): string => task.slice(task.lastIndexOf('/') + 1);

export const taskArn = (cluster: string, id: string): string => `${ACCOUNT}:task/${cluster}/${id}`;

const seconds = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1_000);

/** A Task of the ECS API; undefined fields vanish in JSON. */
export function describeRecord(record: TaskRecord, withTags: boolean): Record<string, unknown> {
  const arn = taskArn(record.cluster, record.id);
  return {
    taskArn: arn,
    clusterArn: `${ACCOUNT}:cluster/${record.cluster}`,
    taskDefinitionArn: `${ACCOUNT}:task-definition/${record.family}:1`,
    group: `family:${record.family}`,
    launchType: 'FARGATE',
    lastStatus: record.status,
    desiredStatus: record.desired,
    startedBy: record.started_by,
    createdAt: seconds(record.created_at),
    startedAt: seconds(record.started_at),
    stoppingAt: seconds(record.stopping_at),
    stoppedAt: seconds(record.stopped_at),
    stopCode: record.stop_code,
    stoppedReason: record.stopped_reason,
    attachments: attachmentsOf(record),
    containers: [
      { taskArn: arn, name: SANDBOX_CONTAINER, lastStatus: record.status, exitCode: record.exit_code },
    ],
    ...(withTags ? { tags: record.tags } : {}),
  };
}

/** The address appears with the listener behind it, so nobody can call a task that is not RUNNING. */
function attachmentsOf({ id, address, status }: TaskRecord): unknown[] {
  if (address === undefined) return [];
  const details = [
    { name: 'privateIPv4Address', value: address.host },
    { name: SANDBOX_PORT_DETAIL, value: String(address.port) },
  ];
  const attached = status === 'RUNNING' ? 'ATTACHED' : 'DELETED';
  return [{ id: `eni-${id}`, type: 'ElasticNetworkInterface', status: attached, details }];
}
