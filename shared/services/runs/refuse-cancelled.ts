import type { RunRow } from '../../contracts/rows.ts';
import { CognitionError } from '../../domain/cognition-error.ts';

/** Every step looks here first, so that a cancelled run does nothing more. @throws CognitionError `run_cancelled` */
export function refuseCancelled({ cancel_requested }: RunRow): void {
  if (cancel_requested) throw new CognitionError('run_cancelled', 'the run was cancelled');
}
