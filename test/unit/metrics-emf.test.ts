import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { powertoolsMetrics } from '../../functions/runtime/powertools-metrics.ts';
import { METRICS } from '../../shared/contracts/metric-names.ts';

const stdout = () => vi.spyOn(process.stdout, 'write').mockReturnValue(true);
let write: ReturnType<typeof stdout>;
beforeEach(() => {
  write = stdout();
});
afterEach(() => write.mockRestore());

const lines = () => write.mock.calls.map(([line]) => JSON.parse(String(line)));
const shapes = () =>
  lines().map(({ _aws, ...values }) => ({ ...values, directives: _aws.CloudWatchMetrics }));

describe('metrics of a function', () => {
  it('go out as one line of embedded metrics an invocation, with the deployment as their dimension', () => {
    const metrics = powertoolsMetrics({ deployment: 'blue' });

    metrics.add({ name: 'MaterializationLatency', value: 120 });
    metrics.add({ name: 'MaterializationBytes', value: 4_096 });
    metrics.add({ name: 'ScopeDenied' });
    metrics.flush();

    expect(shapes()).toEqual([
      {
        deployment: 'blue',
        MaterializationLatency: 120,
        MaterializationBytes: 4_096,
        ScopeDenied: 1,
        directives: [
          {
            Namespace: 'Cognition',
            Dimensions: [['deployment']],
            Metrics: [
              { Name: 'MaterializationLatency', Unit: 'Milliseconds' },
              { Name: 'MaterializationBytes', Unit: 'Bytes' },
              { Name: 'ScopeDenied', Unit: 'Count' },
            ],
          },
        ],
      },
    ]);
  });

  it('with a dimension of their own keep it off the others', () => {
    const metrics = powertoolsMetrics({ deployment: 'blue' });

    metrics.add({ name: 'RunsFinished', outcome: 'failed' });
    metrics.add({ name: 'PackageCacheHits', backend: 's3' });
    metrics.add({ name: 'RunsFinished', outcome: 'succeeded' });
    metrics.add({ name: 'RunsFinished', outcome: 'failed' });
    metrics.add({ name: 'RunFailures', code: 'script_failed' });
    metrics.add({ name: 'RunDuration', value: 7 });
    metrics.flush();

    expect(shapes().map(({ directives, ...values }) => [directives[0].Dimensions, values])).toEqual([
      [[['deployment', 'outcome']], { deployment: 'blue', outcome: 'failed', RunsFinished: [1, 1] }],
      [[['deployment', 'backend']], { deployment: 'blue', backend: 's3', PackageCacheHits: 1 }],
      [[['deployment', 'outcome']], { deployment: 'blue', outcome: 'succeeded', RunsFinished: 1 }],
      [[['deployment', 'code']], { deployment: 'blue', code: 'script_failed', RunFailures: 1 }],
      [[['deployment']], { deployment: 'blue', RunDuration: 7 }],
    ]);
  });

  it('are written once, and not at all by an invocation without any', () => {
    const metrics = powertoolsMetrics({ deployment: 'blue' });
    metrics.flush();
    expect(write).not.toHaveBeenCalled();

    metrics.add({ name: 'ScopeDenied' });
    metrics.flush();
    metrics.flush();

    expect(lines()).toHaveLength(1);
  });

  it('have no dimension but the deployment, the backend, the outcome and the code of a failure', () => {
    const dimensions = Object.values(METRICS).flatMap((metric) =>
      'dimension' in metric ? [metric.dimension] : [],
    );

    expect([...new Set(dimensions)].toSorted()).toEqual(['backend', 'code', 'outcome']);
  });
});
