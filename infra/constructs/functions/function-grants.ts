/**
 * What a function may do on AWS, from its spec: the actions that the adapters call, on the resources of its deployment.
 * A resource `*` stands only where an action has no resources to name.
 */
import { Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as s3 from 'aws-cdk-lib/aws-s3';
import type * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import type { Construct } from 'constructs';
import type { FunctionSpec } from '../../functions/function-table.ts';
import { taskPermissions } from '../sandbox/task-permissions.ts';
import type { FunctionContext } from './cognition-function.ts';
import { tableGrants } from './table-grants.ts';
import { via } from './via-service.ts';

export interface FunctionGrantsProps {
  readonly spec: FunctionSpec;
  readonly context: FunctionContext;
  readonly stateMachine: sfn.IStateMachine | undefined;
}

export function functionGrants(scope: Construct, props: FunctionGrantsProps): iam.PolicyStatement[] {
  const { spec, context, stateMachine } = props;
  const stack = Stack.of(scope);
  return [
    ...(spec.table === 'none' ? [] : tableGrants(stack, spec, context)),
    ...packageGrants(stack, spec, context),
    ...artifactGrants(stack, spec, context),
    ...taskGrants(stack, spec, context),
    ...(stateMachine === undefined ? [] : [allow(['states:StartExecution'], [stateMachine.stateMachineArn])]),
  ];
}

const allow = (actions: string[], resources: string[], conditions?: iam.Conditions): iam.PolicyStatement =>
  new iam.PolicyStatement({ actions, resources, ...(conditions === undefined ? {} : { conditions }) });

function packageGrants(
  stack: Stack,
  { packages }: FunctionSpec,
  { settings, storage }: FunctionContext,
): iam.PolicyStatement[] {
  if (packages === 'none' || settings.packages.backend !== 's3' || storage.packages === undefined) return [];
  const objects = storage.packages.arnForObjects(`${settings.packages.prefix}packages/*`);
  const isOurs = settings.packages.bucket === undefined;
  // Names of buckets are open to everybody: one that was mistyped may be somebody's who waits for that.
  const ownAccount = isOurs ? undefined : { StringEquals: { 'aws:ResourceAccount': stack.account } };
  if (packages === 'delete') return [allow(['s3:DeleteObject'], [objects], ownAccount)];
  return [
    ...readObjects(storage.packages, [objects], ownAccount),
    ...(packages === 'read_write' ? [allow(['s3:PutObject'], [objects], ownAccount)] : []),
    // A bucket that was there before has a key of its own, or none.
    ...(isOurs ? [objectKey(stack, storage, packages)] : []),
  ];
}

/** Each side of the bucket by itself: who keeps what a sandbox has put out cannot plant what another will take in. */
function artifactGrants(
  stack: Stack,
  { artifacts, inputs }: FunctionSpec,
  { storage }: FunctionContext,
): iam.PolicyStatement[] {
  const sides = [
    { access: artifacts, below: 'artifacts/*' },
    { access: inputs, below: 'inputs/*' },
  ];
  return sides.flatMap(({ access, below }) => {
    if (access === 'none') return [];
    const objects = [storage.artifacts.arnForObjects(below)];
    return [
      ...(access === 'write' ? [] : readObjects(storage.artifacts, objects)),
      ...(access === 'read' ? [] : [allow(['s3:PutObject'], objects)]),
      objectKey(stack, storage, access),
    ];
  });
}

/** Without the right to list, S3 answers for what is missing as for what is forbidden. */
const readObjects = (
  bucket: s3.IBucket,
  objects: string[],
  conditions?: iam.Conditions,
): iam.PolicyStatement[] => [
  allow(['s3:GetObject'], objects, conditions),
  allow(['s3:ListBucket'], [bucket.bucketArn], conditions),
];

function objectKey(
  stack: Stack,
  { key }: FunctionContext['storage'],
  access: 'read' | 'write' | 'read_write',
): iam.PolicyStatement {
  const reading = access === 'write' ? [] : ['kms:Decrypt'];
  const writing = access === 'read' ? [] : ['kms:GenerateDataKey'];
  return allow([...reading, ...writing], [key.keyArn], via(stack, 's3'));
}

function taskGrants(
  scope: Construct,
  { ecs }: FunctionSpec,
  { sandbox }: FunctionContext,
): iam.PolicyStatement[] {
  const permissions = taskPermissions(scope, sandbox);
  const calls = ecs.flatMap((call) =>
    permissions[call].map(({ actions, resources, conditions }) => allow(actions, resources, conditions)),
  );
  if (!ecs.includes('RunTask')) return calls;
  // The one role that a task definition of ours names: an override cannot bring another.
  const passRole = allow(['iam:PassRole'], [sandbox.executionRole.roleArn], {
    StringEquals: { 'iam:PassedToService': 'ecs-tasks.amazonaws.com' },
  });
  return [...calls, passRole];
}
