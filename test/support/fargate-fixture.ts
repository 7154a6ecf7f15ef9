/** Local Fargate over a fake runtime, with an SDK client that talks to it. */
import {
  DescribeTasksCommand,
  ECSClient,
  RunTaskCommand,
  type RunTaskCommandInput,
  type Task,
} from '@aws-sdk/client-ecs';
import { createLocalFargate, type LocalFargateOptions } from '../../infra/local/fargate/local-fargate.ts';
import { SANDBOX_ENV } from '../../shared/contracts/daemon.ts';
import { SANDBOX_CONTAINER } from '../../shared/contracts/ecs-task.ts';
import { sandboxProfileSchema } from '../../shared/contracts/sandbox-profile.ts';
import { newSandboxKeyPair } from '../../shared/domain/daemon-signature.ts';
import { createFakeTaskRuntime, type FakeTaskRuntime } from './fake-task-runtime.ts';
import { recordingLog, systemTestClock, testIds } from './sandbox-test-ports.ts';

const ids = testIds();
const { public_key } = newSandboxKeyPair();

export function runTaskInput(
  sandboxId = ids.next(),
  more: Partial<RunTaskCommandInput> = {},
): RunTaskCommandInput {
  return {
    cluster: 'cognition',
    taskDefinition: 'cognition-sandbox-standard',
    clientToken: sandboxId,
    overrides: {
      containerOverrides: [
        {
          name: SANDBOX_CONTAINER,
          environment: [
            { name: SANDBOX_ENV.sandboxId, value: sandboxId },
            { name: SANDBOX_ENV.publicKey, value: public_key },
          ],
        },
      ],
    },
    ...more,
  };
}

export interface FargateFixture {
  readonly runtime: FakeTaskRuntime;
  readonly ecs: ECSClient;
  readonly endpoint: string;
  run(input?: RunTaskCommandInput): Promise<Task>;
  describe(arn: string | undefined): Promise<Task | undefined>;
  /** Polls until the task has this status. */
  until(arn: string | undefined, status: string): Promise<Task>;
  close(): Promise<void>;
}

export async function startFargate(
  runtime: FakeTaskRuntime = createFakeTaskRuntime(),
  options: Partial<LocalFargateOptions> = {},
): Promise<FargateFixture> {
  const fargate = createLocalFargate({
    runtime,
    profiles: [
      sandboxProfileSchema.parse({ name: 'standard' }),
      sandboxProfileSchema.parse({ name: 'large' }),
    ],
    max_tasks: 10,
    clock: systemTestClock(),
    log: recordingLog(),
    ...options,
  });
  const { endpoint } = await fargate.start();
  const ecs = new ECSClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    maxAttempts: 1,
  });
  const describe = async (arn: string | undefined): Promise<Task | undefined> => {
    const { tasks } = await ecs.send(
      new DescribeTasksCommand({ cluster: 'cognition', tasks: [arn ?? ''], include: ['TAGS'] }),
    );
    return tasks?.[0];
  };
  return {
    runtime,
    ecs,
    endpoint,
    describe,
    run: async (input = runTaskInput()) => {
      const { tasks } = await ecs.send(new RunTaskCommand(input));
      const [task] = tasks ?? [];
      if (task === undefined) throw new Error('no task was started');
      return task;
    },
    until: async (arn, status) => {
      for (const deadline = Date.now() + 10_000; ; ) {
        const task = await describe(arn);
        if (task?.lastStatus === status) return task;
        if (Date.now() > deadline) throw new Error(`the task is ${task?.lastStatus}, not ${status}`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
    close: async () => {
      await fargate.close();
      ecs.destroy();
    },
  };
}

/** Host and port out of a described task. */
export function addressOf(task: Task | undefined): { host: string; port: number } {
  const details = task?.attachments?.[0]?.details ?? [];
  const value = (name: string): string => details.find((detail) => detail.name === name)?.value ?? '';
  return { host: value('privateIPv4Address'), port: Number(value('cognitionSandboxPort')) };
}
