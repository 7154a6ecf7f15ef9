import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import type { FunctionContext } from '../constructs/functions/cognition-function.ts';
import { AlarmTopic } from '../constructs/observability/alarm-topic.ts';
import { DeploymentAlarms } from '../constructs/observability/deployment-alarms.ts';
import { LogCount, logCount } from '../constructs/observability/log-count.ts';
import { OperationsDashboard } from '../constructs/observability/operations-dashboard.ts';
import type { RunsStack } from './runs-stack.ts';

export interface ObservabilityStackProps extends StackProps {
  readonly context: FunctionContext;
  readonly runs: RunsStack;
}

/** How an operator learns that something is wrong: alarms with a runbook each, a topic that tells of them, a dashboard. */
export class ObservabilityStack extends Stack {
  readonly topic: AlarmTopic;

  constructor(scope: Construct, id: string, props: ObservabilityStackProps) {
    super(scope, id, props);
    const { context, runs } = props;
    const { settings, storage, sandbox } = context;
    const { deployment, alarm_email } = settings;
    this.topic = new AlarmTopic(this, 'Topic', {
      deployment,
      encryptionKey: storage.key,
      ...(alarm_email === undefined ? {} : { email: alarm_email }),
    });
    const { alarms } = new DeploymentAlarms(this, 'Alarms', {
      topic: this.topic,
      formulas: settings.emulator === undefined,
      subjects: {
        deployment,
        pool: settings.sandbox_pool_size > 0,
        table_name: storage.table.tableName,
        ended_rule_name: runs.endedExecutions.rule.ruleName,
        ended_queue_name: runs.endedExecutions.deadLetters.queueName,
        lost_rounds_queue_name: runs.lostRounds.queueName,
        throttled_calls: logCount('ApiThrottled', deployment),
        blocked_lookups: this.#blockedLookups(context),
      },
    });
    new OperationsDashboard(this, 'Dashboard', {
      settings,
      alarms,
      table_name: storage.table.tableName,
      cluster_name: sandbox.cluster.clusterName,
      machine_arn: runs.stateMachine.stateMachineArn,
    });
    new CfnOutput(this, 'AlarmTopicArn', {
      value: this.topic.topicArn,
      description: 'Subscribe to it to be told of alarms',
    });
  }

  /** Nothing in the network has a reason to look up a name that the firewall does not allow. */
  #blockedLookups({ network }: FunctionContext): cloudwatch.IMetric | undefined {
    if (network.queryLogs === undefined) return undefined;
    new LogCount(this, 'BlockedLookups', { logGroup: network.queryLogs, counts: 'BlockedLookups' });
    return logCount('BlockedLookups', network.vpc.vpcId);
  }
}
