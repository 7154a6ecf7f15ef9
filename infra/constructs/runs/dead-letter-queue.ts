import { Duration } from 'aws-cdk-lib';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { acknowledge } from '../acknowledge.ts';

/** Where events go that nobody could take: encrypted, TLS only, kept as long as SQS keeps anything. */
export class DeadLetterQueue extends sqs.Queue {
  constructor(scope: Construct, id: string) {
    super(scope, id, {
      encryption: sqs.QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    const itself = 'It is the queue of dead letters itself; an alarm tells when there is one.';
    acknowledge(this, { 'AwsSolutions-SQS3': itself, 'Serverless-SQSRedrivePolicy': itself });
  }
}
