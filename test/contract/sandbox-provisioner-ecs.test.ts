import { ECSClient } from '@aws-sdk/client-ecs';
import { createLocalFargate } from '../../infra/local/fargate/local-fargate.ts';
import { createEcsSandboxProvisioner } from '../../shared/adapters/aws/ecs-sandbox-provisioner.ts';
import { sandboxFamily } from '../../shared/contracts/ecs-task.ts';
import { sandboxProfileSchema } from '../../shared/contracts/sandbox-profile.ts';
import { createFakeTaskRuntime } from '../support/fake-task-runtime.ts';
import { recordingLog, systemTestClock } from '../support/sandbox-test-ports.ts';
import { sandboxProvisionerContract } from './sandbox-provisioner.contract.ts';

for (const advertise of [undefined, { host: '127.0.0.1' }]) {
  const where = advertise === undefined ? 'an address for each task' : 'a port for each task';
  sandboxProvisionerContract(`ECS adapter over local Fargate, ${where}`, async () => {
    const runtime = createFakeTaskRuntime();
    const fargate = createLocalFargate({
      runtime,
      profiles: [sandboxProfileSchema.parse({ name: 'standard' })],
      max_tasks: 100,
      clock: systemTestClock(),
      log: recordingLog(),
      ...(advertise === undefined ? {} : { advertise }),
    });
    const { endpoint } = await fargate.start();
    const ecs = new ECSClient({
      endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    });
    const again = () =>
      createEcsSandboxProvisioner({
        ecs,
        cluster: 'cognition',
        subnets: ['subnet-1'],
        securityGroups: ['sg-1'],
        taskDefinitions: { standard: sandboxFamily('standard') },
        imageIdentities: { standard: 'sha256:1' },
        isolation: 'sandbox',
      });
    return {
      provisioner: again(),
      again,
      close: async () => {
        await fargate.close();
        ecs.destroy();
      },
    };
  });
}
