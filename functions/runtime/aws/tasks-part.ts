import { ECSClient } from '@aws-sdk/client-ecs';
import * as z from 'zod';
import { TASK_CLIENT_OPTIONS } from '../../../shared/adapters/aws/client-options.ts';
import { createEcsSandboxProvisioner } from '../../../shared/adapters/aws/ecs-sandbox-provisioner.ts';
import { FUNCTION_ENVIRONMENT } from '../../../shared/contracts/function-environment.ts';
import type { SandboxProvisioner } from '../../../shared/ports/sandbox-provisioner.ts';
import { functionPart } from './function-part.ts';

const { images, tasks, network } = FUNCTION_ENVIRONMENT;
const looking = z.object({ ...images.shape, ...tasks.shape });
const launching = z.object({ ...looking.shape, ...network.shape });

const provisionerOf = (
  values: z.output<typeof looking>,
  subnets: readonly string[],
  securityGroups: readonly string[],
): SandboxProvisioner =>
  createEcsSandboxProvisioner({
    ecs: new ECSClient(TASK_CLIENT_OPTIONS),
    cluster: values.COGNITION_CLUSTER,
    subnets,
    securityGroups,
    taskDefinitions: values.COGNITION_TASK_DEFINITIONS,
    imageIdentities: values.COGNITION_IMAGE_IDENTITIES,
    isolation: 'sandbox',
  });

/** Looks at tasks and stops them; it knows no network to start one in. */
export const tasksPart = functionPart(looking, (values) => provisionerOf(values, [], []));

export const launchingTasksPart = functionPart(launching, (values) =>
  provisionerOf(values, values.COGNITION_SANDBOX_SUBNETS, values.COGNITION_SANDBOX_SECURITY_GROUPS),
);
