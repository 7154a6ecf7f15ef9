/**
 * The requests of the ECS API that local Fargate understands. Strict on purpose: what a task may run is fixed
 * by its profile, so an override of role, image or command is refused, and so is a parameter whose effect
 * this server does not have.
 */
import * as z from 'zod';
import { SANDBOX_ENV } from '../../../shared/contracts/daemon.ts';
import { SANDBOX_CONTAINER } from '../../../shared/contracts/ecs-task.ts';

const clusterSchema = z.string().min(1).max(512).default('default');
const tagSchema = z.strictObject({ key: z.string().min(1).max(128), value: z.string().max(256).default('') });
export type EcsTag = z.infer<typeof tagSchema>;

const environmentSchema = z
  .array(
    z.strictObject({
      name: z.enum(
        [SANDBOX_ENV.sandboxId, SANDBOX_ENV.publicKey, SANDBOX_ENV.profile],
        'only the variables of the sandbox daemon may be set',
      ),
      value: z.string().max(8_192),
    }),
  )
  .refine((pairs) => new Set(pairs.map((pair) => pair.name)).size === pairs.length, 'names are unique');

const overridesSchema = z.strictObject({
  containerOverrides: z
    .array(z.strictObject({ name: z.literal(SANDBOX_CONTAINER), environment: environmentSchema }))
    .length(1),
});

const networkSchema = z.strictObject({
  awsvpcConfiguration: z.strictObject({
    subnets: z.array(z.string()).max(16),
    securityGroups: z.array(z.string()).max(5).optional(),
    assignPublicIp: z.literal('DISABLED').optional(),
  }),
});

export const runTaskSchema = z.strictObject({
  cluster: clusterSchema,
  /** `family`, `family:revision`, or the ARN of one. */
  taskDefinition: z.string().min(1).max(512),
  count: z.int().min(1).max(10).default(1),
  clientToken: z.string().min(1).max(64).optional(),
  startedBy: z.string().max(128).optional(),
  group: z.string().max(255).optional(),
  launchType: z.literal('FARGATE').optional(),
  platformVersion: z.string().max(64).optional(),
  networkConfiguration: networkSchema.optional(),
  overrides: overridesSchema,
  tags: z.array(tagSchema).max(50).default([]),
  propagateTags: z.enum(['TASK_DEFINITION', 'SERVICE', 'NONE']).optional(),
  enableECSManagedTags: z.boolean().optional(),
  enableExecuteCommand: z.literal(false).optional(),
});
export type RunTaskMessage = z.infer<typeof runTaskSchema>;

export const describeTasksSchema = z.strictObject({
  cluster: clusterSchema,
  tasks: z.array(z.string().min(1).max(512)).min(1).max(100),
  include: z.array(z.literal('TAGS')).max(1).default([]),
});

export const stopTaskSchema = z.strictObject({
  cluster: clusterSchema,
  task: z.string().min(1).max(512),
  reason: z.string().max(1_024).optional(),
});

export const listTasksSchema = z.strictObject({
  cluster: clusterSchema,
  family: z.string().max(255).optional(),
  startedBy: z.string().max(128).optional(),
  desiredStatus: z.enum(['RUNNING', 'PENDING', 'STOPPED']).default('RUNNING'),
  launchType: z.literal('FARGATE').optional(),
  maxResults: z.int().min(1).max(100).default(100),
  nextToken: z
    .string()
    .regex(/^[0-9]{1,15}$/, 'a token of an earlier answer')
    .optional(),
});
