import { RemovalPolicy } from 'aws-cdk-lib';
import type * as kms from 'aws-cdk-lib/aws-kms';
import * as logs from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { DeploymentSettings } from '../../shared/contracts/deployment-settings.ts';

export interface EncryptedLogGroupProps {
  readonly logGroupName: string;
  readonly settings: DeploymentSettings;
  /** Its policy must let CloudWatch Logs use it. */
  readonly encryptionKey: kms.IKey;
}

/** Logs are kept as long as the settings say, and go with their stack: nothing that must last is only in a log. */
export class EncryptedLogGroup extends logs.LogGroup {
  constructor(scope: Construct, id: string, props: EncryptedLogGroupProps) {
    super(scope, id, {
      logGroupName: props.logGroupName,
      retention: props.settings.log_retention_days,
      encryptionKey: props.encryptionKey,
      removalPolicy: RemovalPolicy.DESTROY,
    });
  }
}
