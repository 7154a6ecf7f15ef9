/** Sandboxes of a standalone server: local Fargate in this process, reached over the wire as ECS is on AWS. */
import { ECSClient } from '@aws-sdk/client-ecs';
import { createEcsSandboxProvisioner } from '../../shared/adapters/aws/ecs-sandbox-provisioner.ts';
import { sandboxFamily } from '../../shared/contracts/ecs-task.ts';
import type { SandboxProfile } from '../../shared/contracts/sandbox-profile.ts';
import { CognitionError, isCognitionError } from '../../shared/domain/cognition-error.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import type { Logger } from '../../shared/ports/logger.ts';
import type { SandboxProvisioner } from '../../shared/ports/sandbox-provisioner.ts';
import { createLocalFargate } from './fargate/local-fargate.ts';
import { createTaskRuntime, type TaskRuntime } from './fargate/task/task-runtime.ts';
import { LOCAL_REGION } from './local-identity.ts';

export interface LocalSandboxes {
  readonly provisioner: SandboxProvisioner;
  readonly warnings: readonly string[];
  close(): Promise<void>;
}

export interface LocalSandboxesOptions {
  readonly profiles: readonly SandboxProfile[];
  readonly max_tasks: number;
  readonly unsafe_no_isolation: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Where no sandbox can be had the registry still works, and every run is refused with the reason. */
export async function createLocalSandboxes(options: LocalSandboxesOptions): Promise<LocalSandboxes> {
  const { unsafe_no_isolation, logger } = options;
  let runtime: TaskRuntime | undefined;
  try {
    runtime = await createTaskRuntime({ unsafe_no_isolation, log: logger });
    return await startFargate(options, runtime);
  } catch (error) {
    await runtime?.close();
    if (isCognitionError(error, 'sandbox_unavailable')) return refusing(error.message);
    throw error;
  }
}

async function startFargate(options: LocalSandboxesOptions, runtime: TaskRuntime): Promise<LocalSandboxes> {
  const fargate = createLocalFargate({ ...options, runtime, log: options.logger });
  const { endpoint } = await fargate.start();
  const ecs = new ECSClient({
    endpoint,
    region: LOCAL_REGION,
    // Local Fargate looks at the secret in its endpoint and at no signature; the client insists on making one.
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 3,
  });
  const byProfile = <T>(value: (profile: SandboxProfile) => T): Record<string, T> =>
    Object.fromEntries(options.profiles.map((profile) => [profile.name, value(profile)]));
  return {
    provisioner: createEcsSandboxProvisioner({
      ecs,
      cluster: 'cognition',
      subnets: ['subnet-local'],
      securityGroups: ['sg-local'],
      taskDefinitions: byProfile((profile) => sandboxFamily(profile.name)),
      imageIdentities: byProfile((profile) => runtime.imageIdentity(profile)),
      isolation: runtime.isolation,
    }),
    warnings: runtime.warnings,
    async close() {
      ecs.destroy();
      await fargate.close();
      await runtime.close();
    },
  };
}

function refusing(reason: string): LocalSandboxes {
  return {
    provisioner: {
      isolation: 'sandbox',
      imageIdentity: async () => 'unavailable',
      launch: async () => {
        throw new CognitionError('sandbox_unavailable', reason);
      },
      describe: async () => [],
      stop: async () => {},
      list: async () => [],
    },
    warnings: [`runs are refused: ${reason}`],
    close: async () => {},
  };
}
