import type { Run } from '../../shared/contracts/run.ts';
import { EXIT } from '../failure.ts';

/** The script's own code where it came to an end by itself; what shells and `timeout` use for the rest. */
export function runExitCode(run: Run, interruptedBy: 'SIGINT' | 'SIGTERM' | undefined): number {
  if (run.status === 'succeeded') return EXIT.success;
  if (interruptedBy !== undefined) return interruptedBy === 'SIGINT' ? EXIT.interrupted : EXIT.terminated;
  if (run.status === 'timed_out') return EXIT.timedOut;
  if (run.failure?.code === 'script_failed' && run.exit_code !== null && run.exit_code !== 0) {
    return run.exit_code & 0xff || EXIT.failure;
  }
  return EXIT.failure;
}
