import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import {
  DEPLOYMENT_DIMENSION,
  METRIC_NAMESPACE,
  METRICS,
  type MetricName,
} from '../../../shared/contracts/metric-names.ts';

export interface Look {
  /** As CloudWatch writes it; default Sum. */
  readonly statistic?: string;
  /** Default five minutes. */
  readonly period?: Duration;
}

type Combine = (metrics: readonly cloudwatch.IMetric[], label: string) => cloudwatch.MathExpression;

/** Metrics of one deployment, by names that are known at synth: a reference would tie the stacks together. */
export class DeploymentMetrics {
  readonly #deployment: string;

  constructor(deployment: string) {
    this.#deployment = deployment;
  }

  /** One of the product's own. `dimension` is the value of the metric's own dimension, and required if it has one. */
  own(name: MetricName, look: Look = {}, dimension?: string): cloudwatch.Metric {
    const metric = METRICS[name];
    const more = 'dimension' in metric ? { [metric.dimension]: dimension ?? '' } : {};
    return made(METRIC_NAMESPACE, name, { [DEPLOYMENT_DIMENSION]: this.#deployment, ...more }, look);
  }

  lambda(functionName: string, name: string, look: Look = {}): cloudwatch.Metric {
    return made('AWS/Lambda', name, { FunctionName: `${this.#deployment}-${functionName}` }, look);
  }

  /** Of the whole API: its name is that of the deployment. */
  api(name: string, look: Look = {}): cloudwatch.Metric {
    return made('AWS/ApiGateway', name, { ApiName: this.#deployment }, look);
  }
}

/** A metric of another service, by the dimensions that its documentation names. */
export const made = (
  namespace: string,
  metricName: string,
  dimensionsMap: Readonly<Record<string, string>>,
  { statistic = 'Sum', period = Duration.minutes(5) }: Look = {},
): cloudwatch.Metric => new cloudwatch.Metric({ namespace, metricName, dimensionsMap, statistic, period });

const combine =
  (expression: (ids: readonly string[]) => string): Combine =>
  (metrics, label) => {
    const named = metrics.map((metric, index) => [`m${index}`, metric] as const);
    return new cloudwatch.MathExpression({
      expression: expression(named.map(([id]) => id)),
      usingMetrics: Object.fromEntries(named),
      label,
      period: Duration.minutes(5),
    });
  };

/**
 * An alarm takes at most ten of them. Over a list, what has no data is left out; `m0 + m1` would have none as soon as
 * one of the two never had any.
 */
export const sumOf: Combine = combine((ids) => `SUM([${ids.join(', ')}])`);
export const largestOf: Combine = combine((ids) => `MAX([${ids.join(', ')}])`);
