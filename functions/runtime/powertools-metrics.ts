import { MetricUnit, Metrics as Powertools } from '@aws-lambda-powertools/metrics';
import { DEPLOYMENT_DIMENSION, METRIC_NAMESPACE, METRICS } from '../../shared/contracts/metric-names.ts';
import type { Measurement, Metrics } from '../../shared/ports/metrics.ts';

/** Metrics that are kept until they are flushed. */
export interface BufferedMetrics extends Metrics {
  /** Writes what was added since the last time; to be called at the end of each invocation. */
  flush(): void;
}

/**
 * CloudWatch's embedded metric format by Powertools, one line a set of dimensions: all metrics of a line share them.
 * Values of one name stay single values, so that percentiles are exact.
 */
export function powertoolsMetrics({ deployment }: { readonly deployment: string }): BufferedMetrics {
  const sets = new Map<string, Powertools>();
  const setOf = (measurement: Measurement): Powertools => {
    const more = dimensionOf(measurement);
    const key = JSON.stringify(more);
    const known = sets.get(key);
    if (known !== undefined) return known;
    const set = new Powertools({ namespace: METRIC_NAMESPACE });
    // Powertools puts a dimension of its own, `service`, before others: it would split each metric by function.
    set.clearDefaultDimensions();
    set.setDefaultDimensions({ [DEPLOYMENT_DIMENSION]: deployment, ...more });
    sets.set(key, set);
    return set;
  };
  return {
    add(measurement) {
      const { name, value = 1 } = measurement;
      setOf(measurement).addMetric(name, MetricUnit[METRICS[name].unit], value);
    },
    flush() {
      for (const set of sets.values()) if (set.hasStoredMetrics()) set.publishStoredMetrics();
    },
  };
}

function dimensionOf(measurement: Measurement): Record<string, string> {
  if ('backend' in measurement) return { backend: measurement.backend };
  if ('code' in measurement) return { code: measurement.code };
  return 'outcome' in measurement ? { outcome: measurement.outcome } : {};
}
