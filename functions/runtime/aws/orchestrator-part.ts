import { SFNClient } from '@aws-sdk/client-sfn';
import { ORCHESTRATOR_CLIENT_OPTIONS } from '../../../shared/adapters/aws/client-options.ts';
import { createStepFunctionsOrchestrator } from '../../../shared/adapters/aws/step-functions-orchestrator.ts';
import { FUNCTION_ENVIRONMENT } from '../../../shared/contracts/function-environment.ts';
import type { RunOrchestrator } from '../../../shared/ports/run-orchestrator.ts';
import { functionPart } from './function-part.ts';

export const orchestratorPart = functionPart(
  FUNCTION_ENVIRONMENT.orchestrator,
  ({ COGNITION_STATE_MACHINE_ARN: stateMachineArn }): RunOrchestrator =>
    createStepFunctionsOrchestrator({ client: new SFNClient(ORCHESTRATOR_CLIENT_OPTIONS), stateMachineArn }),
);
