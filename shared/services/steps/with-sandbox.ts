import type { RunRef } from '../../contracts/workflow.ts';
import { CognitionError } from '../../domain/cognition-error.ts';
import { TransientError } from '../../domain/transient-error.ts';
import { type SandboxHandle, SandboxRefused } from '../../ports/sandbox-client.ts';
import type { RunRecords } from '../records/run-records.ts';
import { refuseCancelled } from '../runs/refuse-cancelled.ts';
import type { SandboxManager } from '../sandbox-manager.ts';

/**
 * A sandbox that does not answer may be lost, or was stopped because the run is cancelled. One that refuses may be
 * another, which has the address of the lost one by now.
 */
export async function withSandbox<T>(
  { manager, runs }: { readonly manager: SandboxManager; readonly runs: RunRecords },
  run: RunRef,
  use: (sandbox: SandboxHandle) => Promise<T>,
): Promise<T> {
  try {
    return await use(await manager.handle(run));
  } catch (cause) {
    if (!(cause instanceof TransientError || isRefusal(cause))) throw cause;
    refuseCancelled((await runs.require(run)).row);
    if (!(await manager.isLost(run))) throw cause;
    throw new CognitionError(
      'run_interrupted',
      'the sandbox was lost while the run needed it; start the run again',
      { cause },
    );
  }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof SandboxRefused || (error instanceof Error && error.cause instanceof SandboxRefused);
