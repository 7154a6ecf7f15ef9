import { createInterpretedOrchestrator } from '../../shared/adapters/local/interpreted-orchestrator.ts';
import { runOrchestratorContract } from './run-orchestrator.contract.ts';

/** The machine of a run is not needed here: any that takes a moment. */
const DEFINITION = {
  StartAt: 'Note',
  States: {
    Note: {
      Type: 'Task',
      Resource: 'arn:aws:states:::lambda:invoke',
      Parameters: { FunctionName: 'note', 'Payload.$': '$' },
      End: true,
    },
  },
};

runOrchestratorContract('The interpreter', async () => {
  const inputs: unknown[] = [];
  const orchestrator = createInterpretedOrchestrator({
    definition: DEFINITION,
    handlers: {
      Note: async (input) => {
        inputs.push(input);
        await new Promise((resolve) => setTimeout(resolve, 5));
      },
    },
    onFailedExecution: async () => undefined,
    logger: { info: () => undefined, warn: () => undefined, error: () => undefined },
  });
  return {
    orchestrator,
    begun: async () => inputs,
    idle: () => orchestrator.idle(),
    close: () => orchestrator.close(),
  };
});
