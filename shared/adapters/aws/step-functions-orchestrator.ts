import { ExecutionAlreadyExists, type SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { CognitionError } from '../../domain/cognition-error.ts';
import { TransientError } from '../../domain/transient-error.ts';
import type { RunOrchestrator } from '../../ports/run-orchestrator.ts';
import { failureName, isTransientFailure } from './transient-failure.ts';

/**
 * Starts the run machine of a deployment. The execution is named after the run, and Step Functions keeps a name for 90
 * days after its execution has ended: longer than the rows of a run.
 */
export function createStepFunctionsOrchestrator({
  client,
  stateMachineArn,
}: {
  readonly client: SFNClient;
  readonly stateMachineArn: string;
}): RunOrchestrator {
  return {
    async start({ fingerprint, run_id }) {
      const command = new StartExecutionCommand({
        stateMachineArn,
        name: run_id,
        // Spelled out: execution histories and events repeat the input, so nothing else of a run goes in.
        input: JSON.stringify({ fingerprint, run_id }),
      });
      try {
        await client.send(command);
      } catch (cause) {
        if (!(cause instanceof ExecutionAlreadyExists)) throw orchestratorFailure(cause);
      }
    },
  };
}

/** What Step Functions says, which names accounts, stays in the cause. */
function orchestratorFailure(cause: unknown): Error {
  const message = `Step Functions StartExecution failed with ${failureName(cause)}`;
  if (isTransientFailure(cause)) return new TransientError(message, cause);
  return new CognitionError('internal_error', message, { cause });
}
