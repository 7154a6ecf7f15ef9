import { SFNClient } from '@aws-sdk/client-sfn';
import { describe, expect, it } from 'vitest';
import { createStepFunctionsOrchestrator } from '../../shared/adapters/aws/step-functions-orchestrator.ts';
import { TransientError } from '../../shared/domain/transient-error.ts';
import {
  answer,
  failureOf,
  json,
  jsonError,
  networkError,
  type Step,
  scriptedHttp,
  textOf,
} from '../support/scripted-http.ts';

const RUN = { fingerprint: 'f'.repeat(52), run_id: '01JBQ4V5M0000000000000RUN1' };
const MACHINE = 'arn:aws:states:us-east-1:123456789012:stateMachine:runs';

function orchestratorOver(...steps: Step[]) {
  const wire = scriptedHttp(...steps);
  const client = new SFNClient({ ...wire.options, maxAttempts: 1 });
  return { orchestrator: createStepFunctionsOrchestrator({ client, stateMachineArn: MACHINE }), wire };
}

describe('starting a run with Step Functions', () => {
  it('names the execution after the run and tells it fingerprint and run id, nothing else', async () => {
    const { orchestrator, wire } = orchestratorOver(json(200, { executionArn: 'arn', startDate: 1 }));

    await orchestrator.start({ ...RUN, secret: 'x' } as typeof RUN);

    expect(wire.requests[0]?.headers['x-amz-target']).toBe('AWSStepFunctions.StartExecution');
    const { input, ...request } = JSON.parse(textOf(wire.requests[0]));
    expect(request).toStrictEqual({ stateMachineArn: MACHINE, name: RUN.run_id });
    expect(JSON.parse(input)).toStrictEqual(RUN);
  });

  it('is done when the execution is there, whether it runs or has ended', async () => {
    const { orchestrator } = orchestratorOver(jsonError('ExecutionAlreadyExists'));
    await expect(orchestrator.start(RUN)).resolves.toBeUndefined();
  });

  it.each([
    ['throttled', jsonError('ThrottlingException')],
    ['at its quota of executions', jsonError('ExecutionLimitExceeded')],
    ['answered with errors of the server', answer(500, '{}')],
    ['without a connection', networkError('ECONNRESET')],
  ])('is busy when it is %s', async (_, step) => {
    const { orchestrator } = orchestratorOver(step);
    expect(await failureOf(orchestrator.start(RUN))).toBeInstanceOf(TransientError);
  });

  it.each(['StateMachineDoesNotExist', 'AccessDeniedException', 'InvalidArn'])(
    'fails on our side with %s and repeats nothing of what Step Functions says',
    async (type) => {
      const { orchestrator } = orchestratorOver(jsonError(type));
      expect(await failureOf(orchestrator.start(RUN))).toMatchObject({
        code: 'internal_error',
        message: `Step Functions StartExecution failed with ${type}`,
      });
    },
  );
});
