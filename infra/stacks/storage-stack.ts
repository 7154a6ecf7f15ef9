import { RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as s3 from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import type { DeploymentSettings } from '../../shared/contracts/deployment-settings.ts';
import { asInterface } from '../constructs/as-interface.ts';

export interface StorageStackProps extends StackProps {
  readonly settings: DeploymentSettings;
}

/** Everything that must outlive a deployment: the table, the buckets and the key that encrypts them. */
export class StorageStack extends Stack {
  readonly key: kms.Key;
  readonly table: dynamodb.Table;
  readonly artifacts: s3.IBucket;
  /** Undefined when packages are in the table. */
  readonly packages: s3.IBucket | undefined;
  readonly accessLogs: s3.IBucket;

  constructor(scope: Construct, id: string, props: StorageStackProps) {
    super(scope, id, props);
    const { settings } = props;
    const removalPolicy = settings.retain_data ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
    this.key = new kms.Key(this, 'Key', { enableKeyRotation: true, removalPolicy });
    this.table = new dynamodb.Table(this, 'Table', {
      partitionKey: { name: 'pk', type: dynamodb.AttributeType.STRING },
      sortKey: { name: 'sk', type: dynamodb.AttributeType.STRING },
      billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: 'ttl',
      encryption: dynamodb.TableEncryption.CUSTOMER_MANAGED,
      encryptionKey: this.key,
      removalPolicy,
    });
    this.accessLogs = asInterface(new s3.Bucket(this, 'AccessLogs', { removalPolicy }));
    this.artifacts = asInterface(
      new s3.Bucket(this, 'Artifacts', { encryptionKey: this.key, removalPolicy }),
    );
    this.packages = this.packagesBucket(settings, removalPolicy);
  }

  private packagesBucket(
    { packages }: DeploymentSettings,
    removalPolicy: RemovalPolicy,
  ): s3.IBucket | undefined {
    if (packages.backend !== 's3') return undefined;
    if (packages.bucket !== undefined) return s3.Bucket.fromBucketName(this, 'Packages', packages.bucket);
    return asInterface(new s3.Bucket(this, 'Packages', { encryptionKey: this.key, removalPolicy }));
  }
}
