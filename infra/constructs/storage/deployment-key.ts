import { ArnFormat, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';

export interface DeploymentKeyProps {
  readonly deployment: string;
  /** Whether it outlives its stack: without it, nothing that it has encrypted can be read again. */
  readonly retain: boolean;
}

/** The key of everything that a deployment stores: table, buckets, logs. Rotated every year. */
export class DeploymentKey extends kms.Key {
  constructor(scope: Construct, id: string, { deployment, retain }: DeploymentKeyProps) {
    super(scope, id, {
      policy: new iam.PolicyDocument({ statements: [accountDecides()] }),
      alias: `${deployment}/data`,
      description: `Encrypts what the deployment ${deployment} stores`,
      enableKeyRotation: true,
      removalPolicy: retain ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
    });
    this.#admitLogs();
  }

  /** CloudWatch Logs has no role: it uses the key in its own name, for log groups of this account only. */
  #admitLogs(): void {
    const stack = Stack.of(this);
    const anyGroup = stack.formatArn({
      service: 'logs',
      resource: 'log-group',
      resourceName: '*',
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    this.addToResourcePolicy(
      new iam.PolicyStatement({
        sid: 'Logs',
        principals: [new iam.ServicePrincipal(`logs.${stack.region}.amazonaws.com`)],
        actions: [
          'kms:Decrypt',
          'kms:DescribeKey',
          'kms:Encrypt',
          'kms:GenerateDataKey',
          'kms:GenerateDataKeyWithoutPlaintext',
          'kms:ReEncryptFrom',
          'kms:ReEncryptTo',
        ],
        // In a key's policy this is the key itself.
        resources: ['*'],
        conditions: { ArnLike: { 'kms:EncryptionContext:aws:logs:arn': anyGroup } },
      }),
    );
  }
}

/**
 * Leaves it to the IAM policies of the account who may use and manage the key, as the policy that KMS gives a new key
 * does, but by the names of what there is to do.
 */
const accountDecides = (): iam.PolicyStatement =>
  new iam.PolicyStatement({
    sid: 'Account',
    principals: [new iam.AccountRootPrincipal()],
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
    // In a key's policy this is the key itself.
    resources: ['*'],
  });
