import { command } from '../command.ts';
import type { Check } from '../doctor/check.ts';
import { checkConnection } from '../doctor/check-connection.ts';
import { checkHost } from '../doctor/check-host.ts';
import { CliFailure } from '../failure.ts';
import type { Line } from '../terminal/output.ts';

export const doctorCommand = command({
  name: 'doctor',
  description: 'Check endpoint, credentials, clock, and what this machine can do as a sandbox host',
  examples: ['cognition doctor', 'cognition doctor --json', 'cognition doctor --endpoint https://HOST/STAGE'],
  args: {},
  run: async ({ session }) => {
    const checks = [...(await checkConnection(session)), ...(await checkHost(session.io.env))];
    session.output.result({ ok: !checks.some(isFailure), checks }, () => checks.map(checkLine));
    const failed = checks.filter(isFailure).length;
    if (failed === 0) return 0;
    throw new CliFailure('not_ready', `${failed} of ${checks.length} checks failed`, {
      fix: 'see the lines above for what to do',
    });
  },
});

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
