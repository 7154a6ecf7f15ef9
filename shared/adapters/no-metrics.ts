import type { Metrics } from '../ports/metrics.ts';

/** Where nothing collects them: the standalone server, whose log says the same. */
export const noMetrics: Metrics = { add: () => {} };
