/**
 * Every metric of the product: what emits, the dashboard and the alarms use these names. Dimensions are the
 * deployment and, where `dimension` says so, one more of few values. No scope, fingerprint, run or principal is ever
 * a dimension or a value.
 */
export const METRIC_NAMESPACE = 'Cognition';

/** The dimension that every metric has: the name of the deployment. */
export const DEPLOYMENT_DIMENSION = 'deployment';

interface Metric {
  /** As CloudWatch spells units. */
  readonly unit: 'Count' | 'Milliseconds' | 'Bytes';
  /** `backend`: of package bytes. `outcome`: the final status of a run. `code`: of the failure that ended it. */
  readonly dimension?: 'backend' | 'outcome' | 'code';
}

export const METRICS = {
  /** Publications that ended in a fault of ours; a refused package is none. */
  PublicationFailures: { unit: 'Count' },
  /** From the first read of a package to the verified seal. */
  MaterializationLatency: { unit: 'Milliseconds' },
  /** Packages and inputs, as sent to the sandbox. */
  MaterializationBytes: { unit: 'Bytes' },
  /** Bytes that are not what their digest says: in a store, or in a sandbox. */
  DigestFailures: { unit: 'Count' },
  /** Indexes of packages that a process had, or had not, in memory. */
  PackageCacheHits: { unit: 'Count', dimension: 'backend' },
  PackageCacheMisses: { unit: 'Count', dimension: 'backend' },
  SandboxesStopped: { unit: 'Count' },
  SandboxTeardownFailures: { unit: 'Count' },
  /** Tasks that no run and no pool needed. */
  SandboxesReaped: { unit: 'Count' },
  /** Requests of principals that may not assert the scope they named. */
  ScopeDenied: { unit: 'Count' },
  RunsFinished: { unit: 'Count', dimension: 'outcome' },
  /** Runs that ended with a failure; a status does not say whose fault it was, a code does. */
  RunFailures: { unit: 'Count', dimension: 'code' },
  /** From the request of a new sandbox until its daemon answers; pooled ones have none. */
  SandboxLaunchLatency: { unit: 'Milliseconds' },
  /** From POST to the final status. */
  RunDuration: { unit: 'Milliseconds' },
} as const satisfies Readonly<Record<string, Metric>>;

export type MetricName = keyof typeof METRICS;
