/** What a function may do with the table: every row that its work is about, and none of the others. */
import type { Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type { FunctionSpec } from '../../functions/function-table.ts';
import type { FunctionContext } from './cognition-function.ts';
import { via } from './via-service.ts';

/** All that the table's adapter calls: a transaction needs the actions of its parts, and there is no scan. */
const READS = ['dynamodb:ConditionCheckItem', 'dynamodb:GetItem', 'dynamodb:Query'];
const WRITES = ['dynamodb:DeleteItem', 'dynamodb:PutItem'];
const ACTIONS = [...READS, ...WRITES].toSorted();

/** Of the partitions that hold private keys, one a sandbox. */
const SANDBOX_KEYS = ['sandbox-key#*'];
/** A fingerprint, whose length is fixed: `*` would match in the middle of other keys. */
const ANY_SCOPE = '?'.repeat(52);
/** Of skills, agents and inputs, of all scopes; see shared/domain/row-keys. */
const REGISTRY = [
  ...['agent', 'idempotency', 'input', 'object#*', 'revision#*', 'skill'].map(
    (rows) => `${ANY_SCOPE}#${rows}`,
  ),
  'deleted-skills#*',
  'objects#*',
];
/** Of packages that are kept in the table. */
const PACKAGES = ['blob#package#*'];

export function tableGrants(
  stack: Stack,
  spec: FunctionSpec,
  { storage }: FunctionContext,
): iam.PolicyStatement[] {
  const { tableArn } = storage.table;
  const statement = (effect: iam.Effect, actions: string[], conditions?: iam.Conditions) =>
    new iam.PolicyStatement({
      effect,
      actions,
      resources: [tableArn],
      ...(conditions === undefined ? {} : { conditions }),
    });
  return [
    statement(iam.Effect.ALLOW, ACTIONS),
    // The table encrypts in the caller's name.
    new iam.PolicyStatement({
      actions: [
        'kms:Decrypt',
        'kms:DescribeKey',
        'kms:Encrypt',
        'kms:GenerateDataKey',
        'kms:ReEncryptFrom',
        'kms:ReEncryptTo',
      ],
      resources: [storage.key.keyArn],
      conditions: via(stack, 'dynamodb'),
    }),
    ...denials(spec).map(({ actions, conditions }) => statement(iam.Effect.DENY, actions, conditions)),
  ];
}

interface Denial {
  readonly actions: string[];
  readonly conditions: iam.Conditions;
}

const leading = (keys: readonly string[]): iam.Conditions => ({
  'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': [...keys] },
});

/** What reads the answers of sandboxes could be taken over by one: it must not reach what others will run. */
const denials = (spec: FunctionSpec): readonly Denial[] => [
  ...(spec.sandbox_keys ? [] : keyDenials(spec)),
  ...(spec.registry ? [] : [{ actions: ACTIONS, conditions: leading(REGISTRY) }]),
  ...packageDenials(spec),
];

/** Who ends sandboxes deletes their keys, unseen. */
function keyDenials({ ecs }: FunctionSpec): readonly Denial[] {
  const keys = leading(SANDBOX_KEYS);
  if (!ecs.includes('StopTask')) return [{ actions: ACTIONS, conditions: keys }];
  return [
    { actions: ACTIONS.filter((action) => action !== 'dynamodb:DeleteItem'), conditions: keys },
    // A deletion can be asked for what it deletes. What it shows when its condition fails has no key of IAM's to ask
    // for; but these functions are outside the network, where a sandbox's key opens nothing.
    {
      actions: ['dynamodb:DeleteItem'],
      conditions: { ...keys, StringEquals: { 'dynamodb:ReturnValues': 'ALL_OLD' } },
    },
  ];
}

/** The collector has to find what it deletes. */
function packageDenials({ packages }: FunctionSpec): readonly Denial[] {
  const conditions = leading(PACKAGES);
  if (packages === 'none') return [{ actions: ACTIONS, conditions }];
  if (packages === 'read') return [{ actions: WRITES, conditions }];
  return packages === 'delete' ? [{ actions: ['dynamodb:PutItem'], conditions }] : [];
}
