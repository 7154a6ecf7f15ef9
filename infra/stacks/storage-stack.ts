import { CfnOutput, Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type * as kms from 'aws-cdk-lib/aws-kms';
import * as s3 from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import type { DeploymentSettings } from '../../shared/contracts/deployment-settings.ts';
import { LIMITS } from '../../shared/contracts/limits.ts';
import { acknowledge } from '../constructs/acknowledge.ts';
import { asInterface } from '../constructs/as-interface.ts';
import { DeploymentKey } from '../constructs/storage/deployment-key.ts';
import { PrivateBucket, type PrivateBucketProps } from '../constructs/storage/private-bucket.ts';

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
    this.key = new DeploymentKey(this, 'Key', {
      deployment: settings.deployment,
      retain: settings.retain_data,
    });
    this.table = this.#table(settings);
    const common = {
      retain: settings.retain_data,
      // By a function of the CDK, which emulators do not run as AWS does.
      empty: settings.emulator === undefined,
    };
    this.accessLogs = this.#bucket('AccessLogs', {
      ...common,
      expire: [{ prefix: '', after: Duration.days(settings.log_retention_days) }],
    });
    const data = { ...common, encryptionKey: this.key, accessLogs: this.accessLogs };
    this.artifacts = this.#bucket('Artifacts', {
      ...data,
      writes: 'absent',
      expire: [
        { prefix: 'artifacts/', after: outliving(LIMITS.runRetentionSeconds) },
        { prefix: 'inputs/', after: outliving(LIMITS.inputRetentionSeconds) },
      ],
    });
    this.packages = this.#packages(settings, { ...data, writes: 'known' });
    new CfnOutput(this, 'TableName', {
      value: this.table.tableName,
      description: 'Records of the deployment, and with config_registry its packages',
    });
  }

  #table({ retain_data }: DeploymentSettings): dynamodb.Table {
    const table = new dynamodb.Table(this, 'Table', {
      partitionKey: { name: 'pk', type: dynamodb.AttributeType.STRING },
      sortKey: { name: 'sk', type: dynamodb.AttributeType.STRING },
      billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: 'ttl',
      encryption: dynamodb.TableEncryption.CUSTOMER_MANAGED,
      encryptionKey: this.key,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: retain_data,
      // A table that is protected cannot be taken back by a deployment that fails either: it stays, empty.
      removalPolicy: retain_data ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    acknowledge(table, {
      'NIST.800.53.R5-DynamoDBInBackupPlan':
        'Any second of the last 35 days can be restored; a plan for longer is that of the whole account.',
    });
    return table;
  }

  #bucket(id: string, props: PrivateBucketProps): s3.IBucket {
    return asInterface(new PrivateBucket(this, id, props));
  }

  /** Packages that no revision and no run refers to are deleted by the collector, never by their age. */
  #packages({ packages }: DeploymentSettings, props: PrivateBucketProps): s3.IBucket | undefined {
    if (packages.backend !== 's3') return undefined;
    if (packages.bucket === undefined) return this.#bucket('Packages', props);
    return s3.Bucket.fromBucketName(this, 'Packages', packages.bucket);
  }
}

/** A row may be written after its object, and expire as much later: the object must not go first. */
const outliving = (seconds: number): Duration => Duration.days(Math.ceil(seconds / 86_400) + 1);
