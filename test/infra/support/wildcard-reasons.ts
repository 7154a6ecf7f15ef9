/**
 * Why a statement that allows something names more than one resource, or more than one principal. The test of policies
 * fails on one without a reason, and on a reason that nothing needs.
 */

export interface WildcardReason {
  /** Default: of any type of resource of a template. */
  readonly type?: string;
  readonly actions: readonly string[];
  /** The whole resource, as `textOf` writes it: `${…}` stands for a value known at deployment only. */
  readonly resource: RegExp;
  readonly reason: string;
}

const ENDPOINT = 'AWS::EC2::VPCEndpoint';
const EVERYTHING = /^\*$/;
/** Of this account and Region. */
const ecs = (rest: string) => new RegExp(`^arn:\\$\\{AWS::Partition\\}:ecs:\\$\\{AWS::Region\\}:.*:${rest}$`);
const below = (prefix: string) => new RegExp(`^[^*]+/${prefix}/\\*$`);

export const WILDCARD_REASONS: readonly WildcardReason[] = [
  {
    type: 'AWS::KMS::Key',
    actions: [
      'kms:CancelKeyDeletion',
      'kms:CreateAlias',
      'kms:CreateGrant',
      'kms:Decrypt',
      'kms:DeleteAlias',
      'kms:DescribeKey',
      'kms:DisableKey',
      'kms:DisableKeyRotation',
      'kms:EnableKey',
      'kms:EnableKeyRotation',
      'kms:Encrypt',
      'kms:GenerateDataKey',
      'kms:GenerateDataKeyWithoutPlaintext',
      'kms:GetKeyPolicy',
      'kms:GetKeyRotationStatus',
      'kms:ListGrants',
      'kms:ListKeyPolicies',
      'kms:ListKeyRotations',
      'kms:ListResourceTags',
      'kms:PutKeyPolicy',
      'kms:ReEncryptFrom',
      'kms:ReEncryptTo',
      'kms:RetireGrant',
      'kms:RevokeGrant',
      'kms:RotateKeyOnDemand',
      'kms:ScheduleKeyDeletion',
      'kms:TagResource',
      'kms:UntagResource',
      'kms:UpdateAlias',
      'kms:UpdateKeyDescription',
    ],
    resource: EVERYTHING,
    reason: "In a key's own policy `*` is that key.",
  },
  {
    type: 'AWS::S3::BucketPolicy',
    actions: ['s3:PutObject'],
    resource: /^\$\{AccessLogs\w+\.Arn\}\/(artifacts|packages)\/\*$/,
    reason: 'S3 writes the access log of a bucket below a prefix, under names of its own.',
  },
  {
    type: 'AWS::S3::BucketPolicy',
    actions: [
      's3:DeleteObject',
      's3:DeleteObjectVersion',
      's3:GetBucketPolicy',
      's3:GetBucketTagging',
      's3:ListBucketVersions',
      's3:PutBucketPolicy',
    ],
    resource: /^\$\{\w+\.Arn\}\/\*$/,
    reason: 'What empties a bucket that is not to be kept deletes every object of that bucket.',
  },
  {
    type: 'AWS::ApiGateway::RestApi',
    actions: ['execute-api:Invoke'],
    resource: /^execute-api:\/live\/\*\/v1\/scopes\/\*$/,
    reason:
      'Which methods and scopes a principal of another account may use is for its own policies and the bindings.',
  },
  {
    actions: ['ecr:GetAuthorizationToken'],
    resource: EVERYTHING,
    reason: 'The token is for the registry of the account; the action has no resource.',
  },
  {
    actions: [
      'xray:PutTelemetryRecords',
      'xray:PutTraceSegments',
      'xray:GetSamplingRules',
      'xray:GetSamplingTargets',
    ],
    resource: EVERYTHING,
    reason: 'Traces and sampling have no resources to name.',
  },
  {
    actions: [
      'logs:CreateLogDelivery',
      'logs:DeleteLogDelivery',
      'logs:DescribeLogGroups',
      'logs:DescribeResourcePolicies',
      'logs:GetLogDelivery',
      'logs:ListLogDeliveries',
      'logs:PutResourcePolicy',
      'logs:UpdateLogDelivery',
    ],
    resource: EVERYTHING,
    reason: 'How Step Functions sets up the delivery of its log; deliveries have no resources to name.',
  },
  {
    actions: [
      'ec2:AssignPrivateIpAddresses',
      'ec2:CreateNetworkInterface',
      'ec2:DeleteNetworkInterface',
      'ec2:DescribeNetworkInterfaces',
      'ec2:DescribeSubnets',
      'ec2:UnassignPrivateIpAddresses',
    ],
    resource: EVERYTHING,
    reason: 'Lambda checks for them before there is an interface; the code of the function is denied them.',
  },
  {
    actions: ['ec2:DescribeManagedPrefixLists'],
    resource: EVERYTHING,
    reason: 'The list of prefix lists has no resource, and says nothing secret.',
  },
  {
    actions: ['s3:GetObject', 's3:PutObject'],
    resource: below('artifacts'),
    reason:
      'Functions serve every scope: which one is decided by the binding, and keys begin with its fingerprint.',
  },
  {
    actions: ['s3:GetObject', 's3:PutObject'],
    resource: below('inputs'),
    reason:
      'Functions serve every scope: which one is decided by the binding, and keys begin with its fingerprint.',
  },
  {
    actions: ['s3:GetObject', 's3:PutObject', 's3:DeleteObject'],
    resource: below('packages'),
    reason:
      'Functions serve every scope: which one is decided by the binding, and keys begin with its fingerprint.',
  },
  {
    actions: ['ecs:RunTask'],
    resource: ecs('task-definition/cognition-sandbox-[a-z-]+:\\*'),
    reason: 'Any revision of the one family: a new one is run before permissions have changed.',
  },
  {
    actions: ['ecs:TagResource', 'ecs:DescribeTasks', 'ecs:StopTask'],
    resource: ecs('task/[^*]+/\\*'),
    reason: 'Tasks of the one cluster: their ids are made when they start.',
  },
  {
    actions: ['ecs:ListTasks'],
    resource: EVERYTHING,
    reason: 'A list has no resource; the condition names the cluster.',
  },
  {
    type: ENDPOINT,
    actions: ['s3:GetObject'],
    resource: /^arn:\$\{AWS::Partition\}:s3:::prod-\$\{AWS::Region\}-starport-layer-bucket\/\*$/,
    reason: 'The layers of images, in the bucket of ECR, under the names that ECR gives them.',
  },
  {
    type: ENDPOINT,
    actions: ['s3:GetObject', 's3:PutObject'],
    resource: /^[^*]+\/\*$/,
    reason: "The deployment's own buckets; what of them a function may touch is for its role.",
  },
];

/** Statements for any principal, and what narrows them down. */
export const ANYBODY_REASONS: readonly (Omit<WildcardReason, 'resource'> & {
  /** The condition key that must be there; undefined for none. */
  readonly condition: string | undefined;
})[] = [
  {
    type: ENDPOINT,
    condition: 'aws:PrincipalArn',
    actions: [
      'ecr:BatchCheckLayerAvailability',
      'ecr:BatchGetImage',
      'ecr:GetAuthorizationToken',
      'ecr:GetDownloadUrlForLayer',
      'logs:CreateLogStream',
      'logs:PutLogEvents',
    ],
    reason: 'An endpoint takes no role as a principal; the condition names the execution role.',
  },
  {
    type: ENDPOINT,
    condition: 'aws:PrincipalAccount',
    actions: [
      'dynamodb:ConditionCheckItem',
      'dynamodb:DeleteItem',
      'dynamodb:GetItem',
      'dynamodb:PutItem',
      'dynamodb:Query',
      'ecs:DescribeTasks',
      'ecs:RunTask',
      'ecs:StopTask',
      'ecs:TagResource',
      's3:GetObject',
      's3:ListBucket',
      's3:PutObject',
    ],
    reason: 'Only who is inside the subnets reaches the endpoint, and the condition asks for the account.',
  },
  {
    type: ENDPOINT,
    condition: undefined,
    actions: ['s3:GetObject'],
    reason: 'ECR signs the URLs of layers in its own name; the resource is its bucket of layers alone.',
  },
];

/** Policies that AWS keeps. */
export const MANAGED_POLICY_REASONS: Readonly<Record<string, string>> = {
  AmazonAPIGatewayPushToCloudWatchLogs:
    'The role is that of all APIs of the account in this Region, whose log groups this deployment does not know.',
  AWSLambdaBasicExecutionRole:
    'Functions of the CDK, called by CloudFormation alone, write their own log with it.',
};
