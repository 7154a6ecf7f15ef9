import type { Measurement, Metrics } from '../../shared/ports/metrics.ts';

/** Keeps what was measured, in order. */
export class RecordingMetrics implements Metrics {
  readonly added: Measurement[] = [];
  add = (measurement: Measurement): void => void this.added.push(measurement);
  named = (name: Measurement['name']): Measurement[] => this.added.filter((one) => one.name === name);
}
