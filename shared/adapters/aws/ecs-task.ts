/** A task as ECS describes it, read into the port's words. */
import * as z from 'zod';
import { SANDBOX_PORT } from '../../contracts/daemon.ts';
import { SANDBOX_PORT_DETAIL, SANDBOX_TAGS } from '../../contracts/ecs-task.ts';
import { idSchema } from '../../contracts/names.ts';
import type { SandboxTask } from '../../ports/sandbox-provisioner.ts';

const detailSchema = z.object({ name: z.string().optional(), value: z.string().optional() });
const tagSchema = z.object({ key: z.string().optional(), value: z.string().optional() });

export const ecsTaskSchema = z.object({
  taskArn: z.string().min(1),
  lastStatus: z.string(),
  desiredStatus: z.string().optional(),
  stoppedReason: z.string().optional(),
  createdAt: z.date().optional(),
  attachments: z.array(z.object({ details: z.array(detailSchema).default([]) })).default([]),
  tags: z.array(tagSchema).default([]),
});
export type EcsTask = z.infer<typeof ecsTaskSchema>;

export const ecsFailureSchema = z.object({
  arn: z.string().optional(),
  reason: z.string().default('unknown'),
  detail: z.string().optional(),
});

const STARTING = new Set(['PROVISIONING', 'PENDING', 'ACTIVATING']);

/** A task that is on its way out counts as stopped: nothing may be begun in it. */
function statusOf(task: EcsTask): SandboxTask['status'] {
  if (task.desiredStatus === 'STOPPED') return 'stopped';
  if (task.lastStatus === 'RUNNING') return 'running';
  return STARTING.has(task.lastStatus) ? 'starting' : 'stopped';
}

export function toSandboxTask(task: EcsTask): SandboxTask {
  const sandboxId = idSchema.safeParse(task.tags.find((tag) => tag.key === SANDBOX_TAGS.sandboxId)?.value);
  return {
    task_id: task.taskArn,
    sandbox_id: sandboxId.success ? sandboxId.data : undefined,
    status: statusOf(task),
    address: addressOf(task),
    stopped_reason: task.stoppedReason,
    created_at: task.createdAt?.toISOString(),
  };
}

export const missingTask = (taskId: string): SandboxTask => ({
  task_id: taskId,
  sandbox_id: undefined,
  status: 'missing',
  address: undefined,
  stopped_reason: undefined,
  created_at: undefined,
});

const portSchema = z.coerce.number().int().min(1).max(65_535);

/** The address of the network interface; local Fargate names a port of its own beside it. */
function addressOf(task: EcsTask): SandboxTask['address'] {
  const details = task.attachments.flatMap((attachment) => attachment.details);
  const host = details.find((detail) => detail.name === 'privateIPv4Address')?.value;
  if (host === undefined || host === '') return undefined;
  const port = portSchema.safeParse(details.find((detail) => detail.name === SANDBOX_PORT_DETAIL)?.value);
  return { host, port: port.success ? port.data : SANDBOX_PORT };
}
