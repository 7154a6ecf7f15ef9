import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { EcsCall } from '../../functions/function-table.ts';
import type { SandboxStack } from '../../stacks/sandbox-stack.ts';

/** Operator, key, value. */
export type Conditions = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Without who it is for: the same words are said in policies of roles and in that of the endpoint. */
export interface Permission {
  readonly actions: string[];
  readonly resources: string[];
  readonly conditions: Conditions;
}

/** What each call of ECS needs, for sandboxes of this deployment and for nothing else. */
export function taskPermissions(
  scope: Construct,
  { cluster, taskDefinitions }: SandboxStack,
): Readonly<Record<EcsCall, readonly Permission[]>> {
  const arn = (resource: string, resourceName: string): string =>
    Stack.of(scope).formatArn({ service: 'ecs', resource, resourceName });
  const conditions = { ArnEquals: { 'ecs:cluster': cluster.clusterArn } };
  const tasks = [arn('task', `${cluster.clusterName}/*`)];
  // Any revision: a new one is run as soon as it is there, and permissions take longer to change.
  const definitions = Object.values(taskDefinitions).map(({ family }) =>
    arn('task-definition', `${family}:*`),
  );
  return {
    RunTask: [
      { actions: ['ecs:RunTask'], resources: definitions, conditions },
      // Tags come with RunTask, and with nothing else.
      {
        actions: ['ecs:TagResource'],
        resources: tasks,
        conditions: { StringEquals: { 'ecs:CreateAction': 'RunTask' } },
      },
    ],
    DescribeTasks: [{ actions: ['ecs:DescribeTasks'], resources: tasks, conditions }],
    StopTask: [{ actions: ['ecs:StopTask'], resources: tasks, conditions }],
    // Lists have no resource of their own in ECS, only the condition.
    ListTasks: [{ actions: ['ecs:ListTasks'], resources: ['*'], conditions }],
  };
}
