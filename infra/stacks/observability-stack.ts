import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as logs from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { DEPLOYMENT_DIMENSION, METRIC_NAMESPACE } from '../../shared/contracts/metric-names.ts';
import { AlarmTopic } from '../constructs/alarm-topic.ts';
import type { FunctionContext } from '../constructs/cognition-function.ts';
import { DeploymentAlarms } from '../constructs/deployment-alarms.ts';
import { made } from '../constructs/deployment-metrics.ts';
import { OperationsDashboard } from '../constructs/operations-dashboard.ts';
import type { ApiStack } from './api-stack.ts';
import type { RunsStack } from './runs-stack.ts';

export interface ObservabilityStackProps extends StackProps {
  readonly context: FunctionContext;
  readonly runs: RunsStack;
  readonly api: ApiStack;
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
        throttled_calls: this.#throttledCalls(props),
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

  /** API Gateway has no metric of its own for what it refuses for lack of throughput. */
  #throttledCalls({ context, api }: ObservabilityStackProps): cloudwatch.IMetric {
    const metricName = 'ApiThrottled';
    new logs.MetricFilter(this, 'ThrottledCalls', {
      logGroup: api.accessLog,
      filterPattern: logs.FilterPattern.stringValue('$.error', '=', 'THROTTLED'),
      metricNamespace: METRIC_NAMESPACE,
      metricName,
      dimensions: { [DEPLOYMENT_DIMENSION]: '$.deployment' },
    });
    return made(METRIC_NAMESPACE, metricName, { [DEPLOYMENT_DIMENSION]: context.settings.deployment });
  }

  /** Nothing in the network has a reason to look up a name that the firewall does not allow. */
  #blockedLookups({ network }: FunctionContext): cloudwatch.IMetric | undefined {
    if (network.queryLogs === undefined) return undefined;
    const metricName = 'BlockedLookups';
    new logs.MetricFilter(this, 'BlockedLookups', {
      logGroup: network.queryLogs,
      filterPattern: logs.FilterPattern.stringValue('$.firewall_rule_action', '=', 'BLOCK'),
      metricNamespace: METRIC_NAMESPACE,
      metricName,
      dimensions: { vpc_id: '$.vpc_id' },
    });
    return made(METRIC_NAMESPACE, metricName, { vpc_id: network.vpc.vpcId });
  }
}
