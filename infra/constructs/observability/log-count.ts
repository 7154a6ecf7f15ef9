import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { DEPLOYMENT_DIMENSION, METRIC_NAMESPACE } from '../../../shared/contracts/metric-names.ts';
import { made } from './deployment-metrics.ts';

/** What is counted in logs of AWS, because the service has no metric for it. */
const LOG_COUNTS = {
  /** Calls that API Gateway refused for lack of throughput. */
  ApiThrottled: { field: '$.error', value: 'THROTTLED', dimension: DEPLOYMENT_DIMENSION },
  /** Lookups of names that the DNS firewall does not allow. */
  BlockedLookups: { field: '$.firewall_rule_action', value: 'BLOCK', dimension: 'vpc_id' },
} as const;

export interface LogCountProps {
  readonly logGroup: logs.ILogGroup;
  readonly counts: keyof typeof LOG_COUNTS;
}

/** Makes a metric of the lines of a log in JSON that say something, with one of their fields as its dimension. */
export class LogCount extends Construct {
  constructor(scope: Construct, id: string, { logGroup, counts }: LogCountProps) {
    super(scope, id);
    const { field, value, dimension } = LOG_COUNTS[counts];
    new logs.MetricFilter(this, 'Filter', {
      logGroup,
      filterPattern: logs.FilterPattern.stringValue(field, '=', value),
      metricNamespace: METRIC_NAMESPACE,
      metricName: counts,
      dimensions: { [dimension]: `$.${dimension}` },
    });
  }
}

/** @param of the value of the dimension. */
export const logCount = (counts: keyof typeof LOG_COUNTS, of: string): cloudwatch.Metric =>
  made(METRIC_NAMESPACE, counts, { [LOG_COUNTS[counts].dimension]: of });
