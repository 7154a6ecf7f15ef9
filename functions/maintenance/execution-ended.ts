import { type ExecutionEnded, executionEndedSchema } from '../../shared/contracts/execution-event.ts';
import type { CaughtFailure } from '../../shared/services/runs/end-run.ts';
import { caughtFailure } from '../runtime/caught-failure.ts';
import { maintenanceServices } from '../runtime/maintenance-services.ts';

/** By EventBridge, when a machine ended other than well: Catch does not run in one that is stopped from outside. */
export async function handler(event: unknown): Promise<void> {
  const { interrupted, logger } = maintenanceServices();
  const { name: run_id, ...detail } = executionEndedSchema.parse(event).detail;
  const run = detail.input?.run_id === run_id ? detail.input : undefined;
  const found = await interrupted.end({ run_id, run, failure: failureOf(detail) });
  logger.info('execution_ended.done', { run_id, status: detail.status, found });
}

function failureOf({ status, error, cause }: Omit<ExecutionEnded['detail'], 'name'>): CaughtFailure {
  switch (status) {
    case 'ABORTED':
      return { code: 'run_interrupted', message: 'the run was stopped from outside; start it again' };
    case 'TIMED_OUT':
      return {
        code: 'run_interrupted',
        message: 'the run did not end in its time and was given up; start it again',
      };
    case 'FAILED':
      return caughtFailure({ Error: error ?? 'internal_error', Cause: cause ?? '' });
  }
}
