import { Duration, Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { DeploymentSettings } from '../../../shared/contracts/deployment-settings.ts';
import type { RunStatus } from '../../../shared/contracts/run.ts';
import { FUNCTIONS } from '../../functions/function-table.ts';
import { OWN_FAULTS } from './alarm-sources.ts';
import { DeploymentMetrics, made } from './deployment-metrics.ts';

export interface OperationsDashboardProps {
  readonly settings: DeploymentSettings;
  readonly alarms: readonly cloudwatch.Alarm[];
  readonly table_name: string;
  readonly cluster_name: string;
  /** ARN of the run machine. */
  readonly machine_arn: string;
}

type Line = cloudwatch.IMetric;

/** How a run can end. */
export const FINAL_STATUSES: readonly RunStatus[] = ['succeeded', 'failed', 'timed_out', 'cancelled'];

const WIDTH = 8;
const graph = (title: string, left: Line[], options: Partial<cloudwatch.GraphWidgetProps> = {}) =>
  new cloudwatch.GraphWidget({ title, left, width: WIDTH, height: 6, ...options });
const heading = (text: string) => new cloudwatch.TextWidget({ markdown: text, width: 24, height: 1 });
const labelled = (metric: cloudwatch.Metric, label: string): cloudwatch.Metric => metric.with({ label });
const MS: cloudwatch.YAxisProps = { label: 'ms', min: 0, showUnits: false };

/** Three questions, from top to bottom: is it working, what is slow, what does it cost. */
export class OperationsDashboard extends Construct {
  readonly dashboard: cloudwatch.Dashboard;
  readonly #metrics: DeploymentMetrics;
  readonly #props: OperationsDashboardProps;

  constructor(scope: Construct, id: string, props: OperationsDashboardProps) {
    super(scope, id);
    this.#props = props;
    this.#metrics = new DeploymentMetrics(props.settings.deployment);
    this.dashboard = new cloudwatch.Dashboard(this, 'Dashboard', {
      dashboardName: props.settings.deployment,
      defaultInterval: Duration.hours(12),
      widgets: [
        [heading('# Is it working?')],
        [
          new cloudwatch.AlarmStatusWidget({
            title: 'Alarms',
            alarms: [...props.alarms],
            width: 24,
            height: 4,
          }),
        ],
        this.#calls(),
        this.#cleanUp(),
        [heading('# What is slow?')],
        this.#latencies(),
        this.#durations(),
        [heading('# What does it cost? Prices and the model of a run: docs/operating.md')],
        this.#work(),
        this.#data(),
      ],
    });
  }

  #calls(): cloudwatch.IWidget[] {
    const m = this.#metrics;
    const ended = (status: string) => labelled(m.own('RunsFinished', {}, status), status);
    const machine = (name: string) => made('AWS/States', name, { StateMachineArn: this.#props.machine_arn });
    return [
      graph('Calls of the API', [
        labelled(m.api('Count', { statistic: 'SampleCount' }), 'calls'),
        labelled(m.api('4XXError'), 'refused (4xx)'),
        labelled(m.api('5XXError'), 'failed (5xx)'),
      ]),
      graph('Runs by how they ended', FINAL_STATUSES.map(ended), { stacked: true }),
      graph(
        'Runs that failed on our side',
        OWN_FAULTS.map((code) => labelled(m.own('RunFailures', {}, code), code)),
        {
          stacked: true,
          right: [
            labelled(machine('ExecutionsAborted'), 'aborted'),
            labelled(machine('ExecutionsTimedOut'), 'timed out'),
          ],
        },
      ),
    ];
  }

  #cleanUp(): cloudwatch.IWidget[] {
    const m = this.#metrics;
    const rounds = [
      'sweeper',
      'reaper',
      'gc',
      ...(this.#props.settings.sandbox_pool_size > 0 ? ['pool'] : []),
    ];
    return [
      graph('Sandboxes', [
        labelled(m.own('SandboxesStopped'), 'stopped'),
        labelled(m.own('SandboxTeardownFailures'), 'would not stop'),
        labelled(m.own('SandboxesReaped'), 'left over'),
      ]),
      graph(
        'Rounds of maintenance',
        rounds.map((name) => labelled(m.lambda(name, 'Invocations'), name)),
        {
          right: rounds.map((name) => labelled(m.lambda(name, 'Errors'), `${name}: errors`)),
        },
      ),
      graph('Should be nothing', [
        labelled(m.own('DigestFailures'), 'digest failures'),
        labelled(m.own('PublicationFailures'), 'failed publications'),
        labelled(m.own('ScopeDenied'), 'denied scopes'),
        labelled(made('AWS/Lambda', 'Throttles', {}), 'throttled invocations'),
      ]),
    ];
  }

  #latencies(): cloudwatch.IWidget[] {
    const m = this.#metrics;
    const percentiles = (metric: (statistic: string) => cloudwatch.Metric) =>
      ['p50', 'p90', 'p99'].map((statistic) => labelled(metric(statistic), statistic));
    return [
      graph(
        'Run, from the call to its end',
        percentiles((statistic) => m.own('RunDuration', { statistic })),
        {
          leftYAxis: MS,
        },
      ),
      graph(
        'Start of a sandbox',
        percentiles((statistic) => m.own('SandboxLaunchLatency', { statistic })),
        {
          leftYAxis: MS,
        },
      ),
      graph(
        'Materialization',
        percentiles((statistic) => m.own('MaterializationLatency', { statistic })),
        {
          leftYAxis: MS,
        },
      ),
    ];
  }

  #durations(): cloudwatch.IWidget[] {
    const m = this.#metrics;
    const of = (kind: 'api' | 'step') =>
      FUNCTIONS.filter((spec) => spec.kind === kind).map(({ name }) =>
        labelled(m.lambda(name, 'Duration', { statistic: 'p99' }), name),
      );
    return [
      graph(
        'API, p99 (calls that wait for events take up to 20 s)',
        [m.api('Latency', { statistic: 'p99' }), ...of('api')],
        {
          leftYAxis: MS,
        },
      ),
      graph('Steps of runs, p99', of('step'), { leftYAxis: MS }),
      graph('Cache of package indexes', this.#cache(), { leftYAxis: { min: 0 } }),
    ];
  }

  #cache(): Line[] {
    const { backend } = this.#props.settings.packages;
    const own = (name: 'PackageCacheHits' | 'PackageCacheMisses') => this.#metrics.own(name, {}, backend);
    return [
      labelled(own('PackageCacheHits'), `${backend}: hits`),
      labelled(own('PackageCacheMisses'), `${backend}: misses`),
    ];
  }

  #work(): cloudwatch.IWidget[] {
    const tasks = made(
      'ECS/ContainerInsights',
      'TaskCount',
      { ClusterName: this.#props.cluster_name },
      { statistic: 'Average' },
    );
    return [
      graph('Sandboxes running (vCPU and GB are paid by the second)', [labelled(tasks, 'tasks')]),
      graph('GB-seconds of functions', [this.#gigabyteSeconds()], {
        leftYAxis: { min: 0, showUnits: false },
      }),
      graph('Executions of the run machine', [
        labelled(
          made('AWS/States', 'ExecutionsStarted', { StateMachineArn: this.#props.machine_arn }),
          'started',
        ),
      ]),
    ];
  }

  /** What Lambda bills: the time of each function by its memory. */
  #gigabyteSeconds(): Line {
    const terms = FUNCTIONS.map((spec, index) => `f${index} * ${spec.memory_mb / 1_024 / 1_000}`);
    return new cloudwatch.MathExpression({
      expression: `SUM([${terms.join(', ')}])`,
      usingMetrics: Object.fromEntries(
        FUNCTIONS.map(({ name }, index) => [`f${index}`, this.#metrics.lambda(name, 'Duration')]),
      ),
      label: 'GB-seconds',
      period: Duration.minutes(5),
    });
  }

  #data(): cloudwatch.IWidget[] {
    const { deployment } = this.#props.settings;
    const table = (name: string) => made('AWS/DynamoDB', name, { TableName: this.#props.table_name });
    const logged = new cloudwatch.SearchExpression({
      expression: `SEARCH('{AWS/Logs,LogGroupName} MetricName="IncomingBytes" "${deployment}"', 'Sum', 300)`,
      label: '',
      period: Duration.minutes(5),
    });
    return [
      graph('Request units of the table', [
        labelled(table('ConsumedReadCapacityUnits'), 'read'),
        labelled(table('ConsumedWriteCapacityUnits'), 'written'),
      ]),
      graph('Bytes sent to sandboxes', [labelled(this.#metrics.own('MaterializationBytes'), 'bytes')]),
      graph(`Bytes of logs, ${Stack.of(this).region}`, [logged]),
    ];
  }
}
