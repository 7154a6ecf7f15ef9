/**
 * Every alarm of a deployment: what its state means for those who use the API, and the heading of the runbook that
 * says what to do. The observability stack builds an alarm for each; a test holds docs/operating.md to this list,
 * in both directions.
 */

export interface AlarmEntry {
  /** The alarm is named `<deployment>-<id>`. */
  readonly id: string;
  /** The heading in docs/operating.md. */
  readonly title: string;
  /** First sentence of the notification: who feels it, and how. */
  readonly impact: string;
  /** Path from the root of the project, with the heading's anchor. */
  readonly runbook: string;
  /** What a deployment must have for the alarm to exist; absent: every deployment has it. */
  readonly only_with?: 'pool' | 'network_hardening';
}

const RUNBOOK = 'docs/operating.md';

/** The anchor that GitHub gives a heading of letters, digits, spaces and hyphens. */
const anchorOf = (heading: string): string => heading.toLowerCase().replaceAll(' ', '-');

function alarm<const Id extends string>(
  id: Id,
  title: string,
  impact: string,
  more: Pick<AlarmEntry, 'only_with'> = {},
): AlarmEntry & { readonly id: Id } {
  return { id, title, impact, runbook: `${RUNBOOK}#${anchorOf(title)}`, ...more };
}

export const ALARMS = [
  alarm(
    'api-errors',
    'The API answers with server errors',
    'Calls of builders fail through no fault of theirs.',
  ),
  alarm('api-latency', 'The API is slow', 'One call in a hundred takes longer than clients expect.'),
  alarm(
    'api-throttled',
    'The API turns callers away',
    'Calls are answered with 429 because the deployment takes no more requests a second.',
  ),
  alarm(
    'api-near-timeout',
    'API functions come near their time-out',
    'Calls are about to be cut off without an answer from the function.',
  ),
  alarm(
    'functions-throttled',
    'Functions are throttled',
    'The account has no concurrency left: calls are refused and runs wait.',
  ),
  alarm(
    'steps-failing',
    'Steps of runs fail',
    'Runs take longer because their steps are repeated; some may end as failed.',
  ),
  alarm(
    'steps-near-timeout',
    'Steps of runs come near their time-out',
    'Steps are about to be cut off and repeated, which delays every run.',
  ),
  alarm(
    'maintenance-failing',
    'Maintenance fails',
    'Lost runs, sandboxes nobody uses and packages nobody needs are not cleaned up.',
  ),
  alarm(
    'maintenance-near-timeout',
    'Maintenance comes near its time-out',
    'Cleaning up does not keep pace with what there is to clean up.',
  ),
  alarm(
    'sweeper-stopped',
    'The sweeper does not run',
    'A run whose start was lost stays queued, and its caller waits for ever.',
  ),
  alarm(
    'reaper-stopped',
    'The reaper does not run',
    'Sandboxes that outlived their run go on costing money, and lost runs do not end.',
  ),
  alarm(
    'collector-stopped',
    'The collector does not run',
    'Packages and artifacts that nobody can reach stay stored and are paid for.',
  ),
  alarm(
    'pool-stopped',
    'The pool is not filled',
    'Runs wait for a sandbox to start that should have been waiting for them.',
    { only_with: 'pool' },
  ),
  alarm(
    'executions-failing',
    'Executions end from outside',
    'Runs were stopped, timed out or failed in the machine itself, and ended as interrupted.',
  ),
  alarm(
    'ended-executions-lost',
    'Ended executions were not followed up',
    'Runs that were stopped from outside still look alive, and their sandboxes wait for the reaper.',
  ),
  alarm(
    'schedules-lost',
    'Scheduled work could not be started',
    'A round of the sweeper, reaper, collector or pool did not take place.',
  ),
  alarm(
    'runs-failing',
    'Runs fail on our side',
    'Runs end as failed for a reason that is not in their script.',
  ),
  alarm(
    'launch-latency',
    'Sandboxes start slowly',
    'Runs wait long before their command starts; at the launch limit they fail.',
  ),
  alarm(
    'digest-failures',
    'A package is not what its digest says',
    'Runs that pinned the package fail, and stored bytes were changed by a fault or by somebody.',
  ),
  alarm(
    'materialization-failing',
    'Packages cannot be materialized',
    'Runs end before their command starts, because a package could not be placed or verified in the sandbox.',
  ),
  alarm('publication-failures', 'Publishing fails', 'Builders cannot publish skills or their new revisions.'),
  alarm(
    'teardown-failures',
    'Sandboxes could not be stopped',
    'Sandboxes live on after their run and cost money until the reaper stops them.',
  ),
  alarm(
    'sandboxes-reaped',
    'The reaper found sandboxes left over',
    'A run lost its sandbox, or a sandbox outlived its run: some step did not clean up.',
  ),
  alarm(
    'scope-denied',
    'Callers ask for scopes that are not theirs',
    'A builder is configured wrongly, or somebody tries other tenants. Nothing was read.',
  ),
  alarm(
    'table-throttled',
    'The table is throttled',
    'Calls and runs are slowed down by repeated reads and writes, and some are refused.',
  ),
  alarm(
    'table-errors',
    'The table has faults',
    'DynamoDB fails requests; calls are answered with 503 and steps are repeated.',
  ),
  alarm(
    'dns-blocked',
    'A lookup of a foreign name was blocked',
    'Something inside the network asked for a name it has no business with; the lookup was refused.',
    { only_with: 'network_hardening' },
  ),
] as const satisfies readonly AlarmEntry[];

export type AlarmId = (typeof ALARMS)[number]['id'];
