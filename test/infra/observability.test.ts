import { describe, expect, it } from 'vitest';
import { OWN_FAULTS } from '../../infra/constructs/observability/alarm-sources.ts';
import { ALARMS } from '../../infra/constructs/observability/alarm-table.ts';
import { FUNCTIONS } from '../../infra/functions/function-table.ts';
import { METRIC_NAMESPACE, METRICS } from '../../shared/contracts/metric-names.ts';
import {
  type Properties,
  resourcesOf,
  templateOf,
  VARIANT_NAMES,
  type VariantName,
} from './support/synthesize.ts';

const alarmsOf = (name: VariantName): ReadonlyMap<string, Properties> =>
  new Map(
    resourcesOf(templateOf(name, 'observability'), 'AWS::CloudWatch::Alarm').map(({ Properties = {} }) => [
      String(Properties.AlarmName),
      Properties,
    ]),
  );

interface MetricStat {
  readonly Metric: {
    readonly Namespace: string;
    readonly MetricName: string;
    readonly Dimensions?: readonly { readonly Name: string; readonly Value: unknown }[];
  };
}

/** What an alarm reads: its own metric, or those of its formula. */
function metricsOf(alarm: Properties): MetricStat['Metric'][] {
  const formula = (alarm.Metrics ?? []) as readonly { readonly MetricStat?: MetricStat }[];
  if (formula.length === 0) return [alarm as unknown as MetricStat['Metric']];
  return formula.flatMap(({ MetricStat }) => (MetricStat === undefined ? [] : [MetricStat.Metric]));
}

const dimension = ({ Dimensions = [] }: MetricStat['Metric'], name: string): unknown =>
  Dimensions.find(({ Name }) => Name === name)?.Value;

describe('alarms', () => {
  it('are those of the table, in some variant each, and none besides', () => {
    const made = new Set(VARIANT_NAMES.flatMap((name) => [...alarmsOf(name).keys()]));

    expect([...made].toSorted()).toEqual(ALARMS.map(({ id }) => `cognition-${id}`).toSorted());
  });

  it('are all there with a pool and a hardened network', () => {
    expect(alarmsOf('everything').size).toBe(ALARMS.length);
  });

  it('of what a deployment does not have are left out', () => {
    const left = ALARMS.filter(({ id }) => !alarmsOf('production').has(`cognition-${id}`));

    expect(left.map(({ only_with }) => only_with)).toEqual(['pool']);
  });

  it('over formulas are left out where only plain ones are known', () => {
    const plain = alarmsOf('emulator');

    expect(plain.size).toBeGreaterThan(10);
    for (const alarm of plain.values()) expect(alarm.Metrics).toBeUndefined();
  });

  it.each(ALARMS.map((entry) => [entry.id, entry] as const))(
    '%s says whom it hurts and where the runbook is, and tells the topic of both changes',
    (id, { impact, runbook, title }) => {
      const alarm = alarmsOf('everything').get(`cognition-${id}`);
      const [topic] = resourcesOf(templateOf('everything', 'observability'), 'AWS::SNS::Topic');

      expect(alarm?.AlarmDescription).toBe(`${title}. ${impact} What to do: ${runbook}`);
      expect(alarm?.AlarmActions).toEqual([{ Ref: topic?.id }]);
      expect(alarm?.OKActions).toEqual([{ Ref: topic?.id }]);
      expect(Number(alarm?.EvaluationPeriods)).toBeGreaterThanOrEqual(Number(alarm?.DatapointsToAlarm));
      expect(impact).toMatch(/^[A-Z].*\.$/);
    },
  );

  it('have runbooks of their own', () => {
    expect(new Set(ALARMS.map(({ runbook }) => runbook)).size).toBe(ALARMS.length);
    for (const { runbook } of ALARMS) expect(runbook).toMatch(/^docs\/operating\.md#[a-z0-9-]+$/);
  });

  it('read no more metrics than an alarm may', () => {
    for (const [name, alarm] of alarmsOf('everything')) {
      expect(metricsOf(alarm).length, name).toBeLessThanOrEqual(10);
    }
  });

  it('read metrics of the product that exist, with the dimensions that they have', () => {
    const fromLogs = ['ApiThrottled', 'BlockedLookups'];
    const own = [...alarmsOf('everything').values()]
      .flatMap(metricsOf)
      .filter(
        ({ Namespace, MetricName }) => Namespace === METRIC_NAMESPACE && !fromLogs.includes(MetricName),
      );

    expect(own.length).toBeGreaterThan(0);
    for (const metric of own) {
      const known = Object.entries(METRICS).find(([name]) => name === metric.MetricName)?.[1];
      const more = known !== undefined && 'dimension' in known ? [known.dimension] : [];

      expect(known, metric.MetricName).toBeDefined();
      expect(dimension(metric, 'deployment')).toBe('cognition');
      expect(metric.Dimensions?.map(({ Name }) => Name).toSorted()).toEqual(
        ['deployment', ...more].toSorted(),
      );
    }
  });

  it('read functions that exist', () => {
    const names = [...alarmsOf('everything').values()]
      .flatMap(metricsOf)
      .filter(({ Namespace }) => Namespace === 'AWS/Lambda')
      .map((metric) => dimension(metric, 'FunctionName'))
      .filter((name) => name !== undefined);

    expect(names.length).toBeGreaterThan(0);
    for (const name of names) expect(FUNCTIONS.map((spec) => `cognition-${spec.name}`)).toContain(name);
  });

  it('of throttled functions is about all of the account, the pool among them', () => {
    const alarm = alarmsOf('everything').get('cognition-functions-throttled');

    expect(alarm).toMatchObject({ Namespace: 'AWS/Lambda', MetricName: 'Throttles' });
    expect(alarm?.Dimensions).toBeUndefined();
  });

  it.each(['sweeper', 'reaper', 'collector', 'pool'])(
    'of the %s goes off when there is nothing at all',
    (id) => {
      expect(alarmsOf('everything').get(`cognition-${id}-stopped`)).toMatchObject({
        ComparisonOperator: 'LessThanThreshold',
        Threshold: 1,
        TreatMissingData: 'breaching',
      });
    },
  );

  it('of everything else stay silent when there is nothing at all', () => {
    for (const [name, alarm] of alarmsOf('everything')) {
      if (name.endsWith('-stopped')) continue;
      expect(alarm, name).toMatchObject({ TreatMissingData: 'notBreaching' });
    }
  });

  it('of failed runs count the codes that are a fault of ours, and no others', () => {
    const alarm = alarmsOf('everything').get('cognition-runs-failing') ?? {};

    expect(metricsOf(alarm).map((metric) => dimension(metric, 'code'))).toEqual(OWN_FAULTS);
    expect(OWN_FAULTS).toContain('sandbox_unavailable');
    expect(OWN_FAULTS).not.toContain('script_failed');
    expect(OWN_FAULTS).not.toContain('run_timed_out');
  });

  it('of blocked lookups and of refused calls read what the logs say', () => {
    const filters = ['api', 'observability'].flatMap((stack) =>
      resourcesOf(templateOf('everything', stack), 'AWS::Logs::MetricFilter').map(
        ({ Properties }) => Properties,
      ),
    );

    expect(filters).toHaveLength(2);
    expect(filters).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          FilterPattern: '{ $.error = "THROTTLED" }',
          MetricTransformations: [
            {
              MetricNamespace: METRIC_NAMESPACE,
              MetricName: 'ApiThrottled',
              MetricValue: '1',
              Dimensions: [{ Key: 'deployment', Value: '$.deployment' }],
            },
          ],
        }),
        expect.objectContaining({
          FilterPattern: '{ $.firewall_rule_action = "BLOCK" }',
          MetricTransformations: [
            {
              MetricNamespace: METRIC_NAMESPACE,
              MetricName: 'BlockedLookups',
              MetricValue: '1',
              Dimensions: [{ Key: 'vpc_id', Value: '$.vpc_id' }],
            },
          ],
        }),
      ]),
    );
  });
});
