/** What each alarm of the table looks at, and from where on it is one. */
import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { ERROR_CODES, type ErrorCode } from '../../../shared/contracts/error-codes.ts';
import { LIMITS } from '../../../shared/contracts/limits.ts';
import { FUNCTIONS, type FunctionSpec } from '../../functions/function-table.ts';
import type { AlarmId } from './alarm-table.ts';
import { DeploymentMetrics, largestOf, made, sumOf } from './deployment-metrics.ts';

export interface AlarmSource {
  readonly metric: cloudwatch.IMetric;
  readonly threshold: number;
  /** Periods that are looked at. */
  readonly periods: number;
  /** How many of them must be over the threshold; default all. */
  readonly of_them?: number;
  /** Alarm when the metric is below the threshold, or missing; default when it is at or above it. */
  readonly when_below?: boolean;
}

/** What the alarms need to know of the other stacks. */
export interface AlarmSubjects {
  readonly deployment: string;
  readonly pool: boolean;
  readonly table_name: string;
  /** Of executions that ended from outside. */
  readonly ended_rule_name: string;
  readonly ended_queue_name: string;
  readonly lost_rounds_queue_name: string;
  /** Counts refusals for lack of throughput, by the access log. */
  readonly throttled_calls: cloudwatch.IMetric;
  /** Undefined where DNS is not filtered. */
  readonly blocked_lookups: cloudwatch.IMetric | undefined;
}

/** The table's calls, as the adapter makes them. */
const TABLE_OPERATIONS = ['GetItem', 'Query', 'PutItem', 'DeleteItem', 'TransactWriteItems'];

/** A failure that the caller cannot help has a status of 500 or more. */
export const OWN_FAULTS: readonly ErrorCode[] = Object.entries(ERROR_CODES)
  .filter(([, { status }]) => status >= 500)
  .map(([code]) => code)
  .filter((code): code is ErrorCode => Object.hasOwn(ERROR_CODES, code));

/** Steps that use up their time on purpose, and are called again. */
const FOLLOWING: readonly string[] = ['await-sandbox', 'execute'];

const MATERIALIZATION_FAULTS: readonly ErrorCode[] = ['materialization_failed', 'package_unavailable'];

const HOUR = { period: Duration.hours(1) };
const QUARTER = { period: Duration.minutes(15) };

type Sources = Readonly<Record<AlarmId, AlarmSource | undefined>>;

/** Undefined: this deployment does not have what the alarm looks at. */
export function alarmSources(subjects: AlarmSubjects): Sources {
  const metrics = new DeploymentMetrics(subjects.deployment);
  return {
    ...apiAlarms(metrics, subjects),
    ...functionAlarms(metrics, subjects),
    ...runAlarms(metrics, subjects),
    ...storageAlarms(metrics, subjects),
  };
}

/** Any of them in the period. */
const any = (metric: cloudwatch.IMetric): AlarmSource => ({ metric, threshold: 1, periods: 1 });
const atLeast = (threshold: number, metric: cloudwatch.IMetric): AlarmSource => ({
  metric,
  threshold,
  periods: 1,
});
/** Not for one bad moment: two periods out of three. */
const lasting = (threshold: number, metric: cloudwatch.IMetric): AlarmSource => ({
  metric,
  threshold,
  periods: 3,
  of_them: 2,
});
const stopped = (metric: cloudwatch.IMetric, periods: number): AlarmSource => ({
  metric,
  threshold: 1,
  periods,
  when_below: true,
});

function apiAlarms(metrics: DeploymentMetrics, { throttled_calls }: AlarmSubjects) {
  // Calls that wait for events take up to 20 s on purpose, so the function that serves them is left out.
  const prompt = ofKind('api').filter(({ name }) => name !== 'runs');
  return {
    'api-errors': lasting(5, errorRate(metrics)),
    'api-latency': lasting(
      3_000,
      largestOf(
        prompt.map(({ name }) => metrics.lambda(name, 'Duration', { statistic: 'p99' })),
        'p99 in ms',
      ),
    ),
    'api-throttled': lasting(10, throttled_calls),
    'api-near-timeout': lasting(90, shareOfTimeout(metrics, ofKind('api'))),
  };
}

/** In percent, of a hundred requests at least: one failure out of two calls at night is none of one half. */
const errorRate = (metrics: DeploymentMetrics): cloudwatch.MathExpression =>
  new cloudwatch.MathExpression({
    expression: '100 * errors / IF(calls < 100, 100, calls)',
    usingMetrics: {
      errors: metrics.api('5XXError'),
      calls: metrics.api('Count', { statistic: 'SampleCount' }),
    },
    label: 'server errors in percent of calls',
    period: Duration.minutes(5),
  });

function functionAlarms(metrics: DeploymentMetrics, { pool, lost_rounds_queue_name }: AlarmSubjects) {
  const invocations = (name: string, look = {}) => metrics.lambda(name, 'Invocations', look);
  const steps = ofKind('step').filter(({ name }) => !FOLLOWING.includes(name));
  return {
    // Of the account, which has the one pool of concurrency.
    'functions-throttled': atLeast(5, made('AWS/Lambda', 'Throttles', {})),
    'steps-failing': lasting(20, errorsOf(metrics, 'step', pool)),
    'steps-near-timeout': lasting(90, shareOfTimeout(metrics, steps)),
    'maintenance-failing': lasting(2, errorsOf(metrics, 'maintenance', pool)),
    'maintenance-near-timeout': lasting(90, shareOfTimeout(metrics, ofKind('maintenance', pool))),
    'sweeper-stopped': stopped(invocations('sweeper'), 2),
    'reaper-stopped': stopped(invocations('reaper'), 3),
    'collector-stopped': stopped(invocations('gc', HOUR), 2),
    'pool-stopped': pool ? stopped(invocations('pool'), 3) : undefined,
    'schedules-lost': any(visibleMessages(lost_rounds_queue_name)),
  };
}

const ofKind = (kind: FunctionSpec['kind'], pool = true): FunctionSpec[] =>
  FUNCTIONS.filter((spec) => spec.kind === kind && (pool || spec.name !== 'pool'));

const errorsOf = (metrics: DeploymentMetrics, kind: FunctionSpec['kind'], pool: boolean) =>
  sumOf(
    ofKind(kind, pool).map(({ name }) => metrics.lambda(name, 'Errors')),
    'errors',
  );

/** The longest invocation of each function in percent of its own time-out, and of these the largest. */
function shareOfTimeout(metrics: DeploymentMetrics, specs: readonly FunctionSpec[]) {
  const shares = specs.map((spec, index) => `m${index} / ${spec.timeout_seconds * 10}`);
  return new cloudwatch.MathExpression({
    expression: `MAX([${shares.join(', ')}])`,
    usingMetrics: Object.fromEntries(
      specs.map(({ name }, index) => [
        `m${index}`,
        metrics.lambda(name, 'Duration', { statistic: 'Maximum' }),
      ]),
    ),
    label: 'longest invocation in percent of its time-out',
    period: Duration.minutes(5),
  });
}

function runAlarms(metrics: DeploymentMetrics, subjects: AlarmSubjects) {
  const failures = (codes: readonly ErrorCode[]) =>
    sumOf(
      codes.map((code) => metrics.own('RunFailures', {}, code)),
      'failed runs',
    );
  const slow = (LIMITS.launchTimeoutSeconds * 1_000) / 2;
  return {
    'runs-failing': lasting(3, failures(OWN_FAULTS)),
    'materialization-failing': lasting(2, failures(MATERIALIZATION_FAULTS)),
    'launch-latency': lasting(slow, metrics.own('SandboxLaunchLatency', { statistic: 'p90' })),
    'executions-failing': any(made('AWS/Events', 'TriggeredRules', { RuleName: subjects.ended_rule_name })),
    'ended-executions-lost': any(visibleMessages(subjects.ended_queue_name)),
    'teardown-failures': any(metrics.own('SandboxTeardownFailures')),
    'sandboxes-reaped': any(metrics.own('SandboxesReaped')),
    'dns-blocked': subjects.blocked_lookups === undefined ? undefined : any(subjects.blocked_lookups),
  };
}

function storageAlarms(metrics: DeploymentMetrics, { table_name: TableName }: AlarmSubjects) {
  const table = (name: string, more = {}) => made('AWS/DynamoDB', name, { TableName, ...more });
  return {
    'digest-failures': any(metrics.own('DigestFailures')),
    'publication-failures': atLeast(3, metrics.own('PublicationFailures', QUARTER)),
    'scope-denied': atLeast(20, metrics.own('ScopeDenied')),
    'table-throttled': lasting(
      10,
      sumOf([table('ReadThrottleEvents'), table('WriteThrottleEvents')], 'throttled requests'),
    ),
    'table-errors': atLeast(
      5,
      sumOf(
        TABLE_OPERATIONS.map((Operation) => table('SystemErrors', { Operation })),
        'failed requests',
      ),
    ),
  };
}

const visibleMessages = (QueueName: string): cloudwatch.Metric =>
  made('AWS/SQS', 'ApproximateNumberOfMessagesVisible', { QueueName }, { statistic: 'Maximum' });
