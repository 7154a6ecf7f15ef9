import { describe, expect, it } from 'vitest';
import { ALARMS } from '../../infra/constructs/observability/alarm-table.ts';
import { FINAL_STATUSES } from '../../infra/constructs/observability/operations-dashboard.ts';
import { METRIC_NAMESPACE, METRICS } from '../../shared/contracts/metric-names.ts';
import { RUN_STATUSES } from '../../shared/contracts/run.ts';
import { isFinalStatus } from '../../shared/domain/run-transitions.ts';
import { textOf } from './support/policy-statements.ts';
import { resourcesOf, templateOf, type VariantName } from './support/synthesize.ts';

describe('the dashboard', () => {
  interface Widget {
    readonly type: string;
    readonly properties: Record<string, unknown> & {
      readonly markdown?: string;
      readonly metrics?: unknown[][];
    };
  }
  const widgets = (name: VariantName): Widget[] => {
    const [dashboard] = resourcesOf(templateOf(name, 'observability'), 'AWS::CloudWatch::Dashboard');
    return JSON.parse(textOf(dashboard?.Properties?.DashboardBody)).widgets;
  };

  it('asks three questions, from top to bottom', () => {
    const headings = widgets('production').flatMap(({ properties: { markdown } }) => markdown ?? []);

    expect(headings).toEqual([
      '# Is it working?',
      '# What is slow?',
      expect.stringMatching(/^# What does it cost\?.*docs\/operating\.md$/),
    ]);
  });

  it('shows the state of every alarm', () => {
    const [status] = widgets('everything').filter(({ type }) => type === 'alarm');

    expect(status?.properties.alarms).toHaveLength(ALARMS.length);
  });

  it('shows every metric of the product but its dimensions hold no scope', () => {
    const text = JSON.stringify(widgets('everything'));

    for (const name of Object.keys(METRICS)) expect(text, name).toContain(`"${METRIC_NAMESPACE}","${name}"`);
    expect(text).not.toMatch(/fingerprint|scope_|tenant/);
  });

  it('knows every way that a run can end', () => {
    expect(FINAL_STATUSES.toSorted()).toEqual(RUN_STATUSES.filter(isFinalStatus).toSorted());
  });

  it('has nothing wider than the grid', () => {
    for (const widget of widgets('everything') as unknown as { x: number; width: number }[]) {
      expect(widget.x + widget.width).toBeLessThanOrEqual(24);
    }
  });
});
