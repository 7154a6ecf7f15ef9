import { command } from '../command.ts';
import type { Check } from '../doctor/check.ts';
import { checkConnection } from '../doctor/check-connection.ts';
import { checkHost } from '../doctor/check-host.ts';
import type { Attempt } from '../doctor/deployed/attempt.ts';
import { attemptLines } from '../doctor/deployed/attempt-lines.ts';
import { CliFailure, usage } from '../failure.ts';
import type { Session } from '../session.ts';
import type { Line } from '../terminal/output.ts';

export const doctorCommand = command({
  name: 'doctor',
  description: 'Check endpoint, credentials, clock, and what this machine can do as a sandbox host',
  examples: [
    'cognition doctor',
    'cognition doctor --json',
    'cognition doctor --endpoint https://HOST/STAGE',
    'cognition doctor --deployed    # try to break out of the sandboxes behind the endpoint',
  ],
  args: {
    deployed: {
      type: 'boolean',
      description:
        'Try in runs what a sandbox must refuse: publishes a skill into the scope and removes it again',
    },
    'sandbox-profile': {
      type: 'string',
      valueHint: 'name',
      description: 'With --deployed: the profile to try; default: default',
    },
  },
  run: async ({ args, session }) => {
    const profile = args['sandbox-profile'];
    if (profile !== undefined && !args.deployed) throw usage('--sandbox-profile needs --deployed');
    const connection = await checkConnection(session);
    const reachable = !connection.some(isFailure);
    const checks = [...connection, ...(args.deployed ? [] : await checkHost(session.io.env))];
    const attempts = args.deployed && reachable ? await tryIt(session, profile) : undefined;
    const ok = !checks.some(isFailure) && attempts?.every(({ refused }) => refused) !== false;
    session.output.result({ ok, checks, ...(attempts === undefined ? {} : { attempts }) }, () => [
      ...checks.map(checkLine),
      ...(attempts === undefined ? [] : attemptLines(attempts)),
    ]);
    if (ok) return 0;
    throw failureOf(checks, attempts);
  },
});

/** Loaded for this alone: the other checks answer faster without it. */
async function tryIt(session: Session, profile: string | undefined): Promise<Attempt[]> {
  const { tryDeployment } = await import('../doctor/deployed/try-deployment.ts');
  return await tryDeployment(session, profile);
}

function failureOf(checks: readonly Check[], attempts: readonly Attempt[] = []): CliFailure {
  const failed = checks.filter(isFailure).length;
  const unrefused = attempts.filter(({ refused }) => !refused).length;
  if (failed > 0) {
    return new CliFailure('not_ready', `${failed} of ${checks.length} checks failed`, {
      fix: 'see the lines above for what to do',
    });
  }
  return new CliFailure('not_ready', `${unrefused} of ${attempts.length} attempts were not refused`, {
    fix: 'give no run to code of others before it is known why',
  });
}

const isFailure = (check: Check): boolean => check.result === 'failed';
const MARKS = {
  ok: { text: '✔ ', style: 'green' },
  note: { text: '• ', style: 'yellow' },
  failed: { text: '✘ ', style: 'red' },
} as const;

const checkLine = (check: Check): Line => [
  MARKS[check.result],
  { text: check.what.padEnd(18), style: 'bold' },
  check.found,
  check.fix === undefined ? '' : `; ${check.fix}`,
];
