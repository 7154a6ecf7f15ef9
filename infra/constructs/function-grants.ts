/**
 * What a function may do on AWS, from its spec: the actions that the adapters call, on the resources of its deployment.
 * A resource `*` stands only where an action has no resources to name.
 */
import { Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as s3 from 'aws-cdk-lib/aws-s3';
import type * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import type { Construct } from 'constructs';
import type { FunctionSpec } from '../functions/function-table.ts';
import type { FunctionContext } from './cognition-function.ts';
import { taskPermissions } from './task-permissions.ts';

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

/** Of the partitions that hold private keys, one a sandbox. */
const SANDBOX_KEYS = { 'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': ['sandbox-key#*'] } };

/** All that the table's adapter calls: a transaction needs the actions of its parts, and there is no scan. */
function tableGrants(stack: Stack, spec: FunctionSpec, { storage }: FunctionContext): iam.PolicyStatement[] {
  const actions = [
    'dynamodb:ConditionCheckItem',
    'dynamodb:DeleteItem',
    'dynamodb:GetItem',
    'dynamodb:PutItem',
    'dynamodb:Query',
  ];
  const { tableArn } = storage.table;
  return [
    allow(actions, [tableArn]),
    // The table encrypts in the caller's name.
    allow(
      [
        'kms:Decrypt',
        'kms:DescribeKey',
        'kms:Encrypt',
        'kms:GenerateDataKey',
        'kms:ReEncryptFrom',
        'kms:ReEncryptTo',
      ],
      [storage.key.keyArn],
      via(stack, 'dynamodb'),
    ),
    ...(spec.sandbox_keys ? [] : keyDenials(spec, actions, tableArn)),
  ];
}

/** Who ends sandboxes deletes their keys, unseen. */
function keyDenials(spec: FunctionSpec, actions: string[], tableArn: string): iam.PolicyStatement[] {
  const deny = (denied: string[], conditions: iam.Conditions) =>
    new iam.PolicyStatement({ effect: iam.Effect.DENY, actions: denied, resources: [tableArn], conditions });
  if (!spec.ecs.includes('StopTask')) return [deny(actions, SANDBOX_KEYS)];
  return [
    deny(
      actions.filter((action) => action !== 'dynamodb:DeleteItem'),
      SANDBOX_KEYS,
    ),
    // A deletion can be asked for what it deletes.
    deny(['dynamodb:DeleteItem'], {
      ...SANDBOX_KEYS,
      StringEquals: { 'dynamodb:ReturnValues': 'ALL_OLD' },
    }),
  ];
}

function packageGrants(
  stack: Stack,
  { packages }: FunctionSpec,
  { settings, storage }: FunctionContext,
): iam.PolicyStatement[] {
  if (packages === 'none' || settings.packages.backend !== 's3' || storage.packages === undefined) return [];
  const objects = storage.packages.arnForObjects(`${settings.packages.prefix}packages/*`);
  if (packages === 'delete') return [allow(['s3:DeleteObject'], [objects])];
  return [
    ...readObjects(storage.packages, [objects]),
    ...(packages === 'read_write' ? [allow(['s3:PutObject'], [objects])] : []),
    // A bucket that was there before has a key of its own, or none.
    ...(settings.packages.bucket === undefined ? [objectKey(stack, storage, packages)] : []),
  ];
}

function artifactGrants(
  stack: Stack,
  { artifacts }: FunctionSpec,
  { storage }: FunctionContext,
): iam.PolicyStatement[] {
  if (artifacts === 'none') return [];
  const objects = ['artifacts/*', 'inputs/*'].map((below) => storage.artifacts.arnForObjects(below));
  return [
    ...(artifacts === 'write' ? [] : readObjects(storage.artifacts, objects)),
    ...(artifacts === 'read' ? [] : [allow(['s3:PutObject'], objects)]),
    objectKey(stack, storage, artifacts),
  ];
}

/** Without the right to list, S3 answers for what is missing as for what is forbidden. */
const readObjects = (bucket: s3.IBucket, objects: string[]): iam.PolicyStatement[] => [
  allow(['s3:GetObject'], objects),
  allow(['s3:ListBucket'], [bucket.bucketArn]),
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

/** The key, but only as that service uses it. */
const via = (stack: Stack, service: string): iam.Conditions => ({
  StringEquals: { 'kms:ViaService': `${service}.${stack.region}.amazonaws.com` },
});

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
