/** Step Functions of the emulator with a machine of the test's own, which waits a moment and ends. */
import { randomUUID } from 'node:crypto';
import {
  CreateStateMachineCommand,
  DeleteStateMachineCommand,
  DescribeExecutionCommand,
  type ExecutionListItem,
  paginateListExecutions,
  SFNClient,
} from '@aws-sdk/client-sfn';
import { ORCHESTRATOR_CLIENT_OPTIONS } from '../../../shared/adapters/aws/client-options.ts';
import { createStepFunctionsOrchestrator } from '../../../shared/adapters/aws/step-functions-orchestrator.ts';
import type { OrchestratorUnderTest } from '../../contract/run-orchestrator.contract.ts';
import { emulatorConnection } from './emulator-connection.ts';

const DEFINITION = { StartAt: 'Moment', States: { Moment: { Type: 'Wait', Seconds: 1, End: true } } };
const DEADLINE_MS = 30_000;

/** @param endpoint another way to the emulator than the straight one. */
export async function openEmulatorMachine({
  endpoint,
}: {
  readonly endpoint?: string;
} = {}): Promise<OrchestratorUnderTest> {
  const client = new SFNClient({ ...emulatorConnection(endpoint), ...ORCHESTRATOR_CLIENT_OPTIONS });
  const { stateMachineArn = '' } = await client.send(
    new CreateStateMachineCommand({
      name: `contract-${randomUUID()}`,
      definition: JSON.stringify(DEFINITION),
      roleArn: 'arn:aws:iam::000000000000:role/contract',
    }),
  );
  const list = async (): Promise<ExecutionListItem[]> => {
    const found: ExecutionListItem[] = [];
    for await (const page of paginateListExecutions({ client }, { stateMachineArn })) {
      found.push(...(page.executions ?? []));
    }
    return found;
  };
  const inputOf = async ({ executionArn }: ExecutionListItem): Promise<unknown> => {
    const { input = '' } = await client.send(new DescribeExecutionCommand({ executionArn }));
    return JSON.parse(input);
  };
  return {
    orchestrator: createStepFunctionsOrchestrator({ client, stateMachineArn }),
    begun: async () => Promise.all((await list()).map(inputOf)),
    idle: async () => {
      const deadline = Date.now() + DEADLINE_MS;
      while ((await list()).some(({ status }) => status === 'RUNNING')) {
        if (Date.now() > deadline) throw new Error('executions do not end');
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    close: async () => {
      await client.send(new DeleteStateMachineCommand({ stateMachineArn }));
      client.destroy();
    },
  };
}
