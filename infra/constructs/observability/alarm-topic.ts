import { ArnFormat, Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as kms from 'aws-cdk-lib/aws-kms';
import * as sns from 'aws-cdk-lib/aws-sns';
import * as subscriptions from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import { acknowledge } from '../acknowledge.ts';

export interface AlarmTopicProps {
  readonly deployment: string;
  readonly encryptionKey: kms.Key;
  /** Told of every change of an alarm, once whoever reads it has confirmed. Default: nobody. */
  readonly email?: string;
}

/** Where alarms of this deployment go; other tools can subscribe to it. */
export class AlarmTopic extends sns.Topic {
  constructor(scope: Construct, id: string, props: AlarmTopicProps) {
    super(scope, id, {
      topicName: `${props.deployment}-alarms`,
      masterKey: props.encryptionKey,
      enforceSSL: true,
    });
    if (props.email !== undefined) {
      this.addSubscription(new subscriptions.EmailSubscription(props.email));
      acknowledge(this, {
        'Serverless-SNSRedrivePolicy':
          'A mail that could not be delivered is of no use later: the alarm itself shows its state, and its history.',
      });
    }
    const alarms = Stack.of(this).formatArn({
      service: 'cloudwatch',
      resource: 'alarm',
      resourceName: `${props.deployment}-*`,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    // CloudWatch publishes in its own name, and needs the key for it.
    this.addToResourcePolicy(alarmsOnly('Alarms', ['sns:Publish'], this.topicArn, alarms));
    props.encryptionKey.addToResourcePolicy(
      // In a key's policy the resource is the key itself.
      alarmsOnly('Alarms', ['kms:Decrypt', 'kms:GenerateDataKey'], '*', alarms),
    );
  }
}

const alarmsOnly = (
  sid: string,
  actions: string[],
  resource: string,
  alarmArns: string,
): iam.PolicyStatement =>
  new iam.PolicyStatement({
    sid,
    principals: [new iam.ServicePrincipal('cloudwatch.amazonaws.com')],
    actions,
    resources: [resource],
    conditions: { ArnLike: { 'aws:SourceArn': alarmArns } },
  });
