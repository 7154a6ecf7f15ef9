/** Numbers for dashboards and alarms. By their type, dimensions hold only words of our own, and no caller's value. */
import type { ErrorCode } from '../contracts/error-codes.ts';
import type { METRICS, MetricName } from '../contracts/metric-names.ts';
import type { RunStatus } from '../contracts/run.ts';
import type { PackageBackend } from './skill-package-store.ts';

type WithDimension<Dimension> = {
  [Name in MetricName]: (typeof METRICS)[Name] extends { readonly dimension: Dimension } ? Name : never;
}[MetricName];

export type Measurement = {
  /** In the metric's unit; default 1. */
  readonly value?: number;
} & (
  | { readonly name: Exclude<MetricName, WithDimension<'backend' | 'outcome' | 'code'>> }
  | { readonly name: WithDimension<'backend'>; readonly backend: PackageBackend }
  | { readonly name: WithDimension<'outcome'>; readonly outcome: RunStatus }
  | { readonly name: WithDimension<'code'>; readonly code: ErrorCode }
);

export interface Metrics {
  /** Never throws, and waits for nothing. */
  add(measurement: Measurement): void;
}
