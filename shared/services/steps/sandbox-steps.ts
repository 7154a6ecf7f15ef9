import type { RunRow } from '../../contracts/rows.ts';
import type { StepProgress } from '../../contracts/workflow.ts';
import { CognitionError } from '../../domain/cognition-error.ts';
import { SandboxRefused } from '../../ports/sandbox-client.ts';
import { redactedCommand } from '../run-skill-resolver.ts';
import type { RunSteps } from '../run-steps.ts';
import { type ExecuteCommandDeps, executeCommand } from '../runs/execute-command.ts';
import type { RunRequestBlobs } from '../runs/run-request-blobs.ts';
import type { SandboxManager } from '../sandbox-manager.ts';
import { enterStep, pinnedManifest } from './enter-step.ts';
import { withSandbox } from './with-sandbox.ts';

export interface SandboxStepsDeps extends ExecuteCommandDeps {
  readonly manager: SandboxManager;
  readonly requests: RunRequestBlobs;
}

/** The steps that need the run's sandbox, but no package and no artifact. */
export function createSandboxSteps(
  deps: SandboxStepsDeps,
): Pick<RunSteps, 'launchSandbox' | 'awaitSandbox' | 'execute'> {
  const { manager } = deps;
  const done: StepProgress = { status: 'done' };
  return {
    async launchSandbox(run) {
      const row = await enterStep(deps, run, 'pinned', 'launching');
      if (row !== undefined) await manager.launch(run, (await pinnedManifest(deps, row)).manifest);
    },
    async awaitSandbox(run) {
      const row = await enterStep(deps, run, 'launching', 'launching');
      return row === undefined ? done : manager.awaitReady(run);
    },
    async execute(run) {
      const row = await enterStep(deps, run, 'running', 'running');
      return row === undefined ? done : execute(deps, row);
    },
  };
}

async function execute(deps: SandboxStepsDeps, run: RunRow): Promise<StepProgress> {
  const [request, { manifest }] = await Promise.all([deps.requests.read(run), pinnedManifest(deps, run)]);
  if (JSON.stringify(redactedCommand(request)) !== JSON.stringify(manifest.command)) {
    throw new CognitionError('digest_mismatch', 'the stored command is not the one that was pinned');
  }
  try {
    return await withSandbox(deps, run, (sandbox) => executeCommand(deps, run, sandbox, request));
  } catch (cause) {
    if (!(cause instanceof SandboxRefused)) throw cause;
    const message = `the sandbox did not keep to its protocol while the command ran: ${cause.code}`;
    throw new CognitionError('run_interrupted', message, { cause });
  }
}
