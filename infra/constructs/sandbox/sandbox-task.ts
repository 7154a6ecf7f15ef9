import { createHash } from 'node:crypto';
import { CfnDeletionPolicy, Stack } from 'aws-cdk-lib';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { SANDBOX_PORT } from '../../../shared/contracts/daemon.ts';
import { SANDBOX_CONTAINER, sandboxFamily } from '../../../shared/contracts/ecs-task.ts';
import { DROPPED_CAPABILITIES, SANDBOX_MOUNT_OPTIONS } from '../../../shared/contracts/sandbox-container.ts';
import type { SandboxProfile } from '../../../shared/contracts/sandbox-profile.ts';
import { type SandboxSize, sandboxSize } from '../../../shared/contracts/sandbox-size.ts';
import type { SandboxImage } from './sandbox-image.ts';

export interface SandboxTaskProps {
  readonly profile: SandboxProfile;
  readonly image: SandboxImage;
  readonly architecture: 'arm64' | 'x64';
  readonly executionRole: iam.IRole;
  readonly logGroup: logs.ILogGroup;
}

/** There is nothing in a sandbox to be saved: Fargate's least, in seconds. */
const STOP_SECONDS = 2;

const OPEN_FILES = 65_535;

/**
 * The task definition of one sandbox profile: the daemon alone, on a root that cannot be written, everything else in
 * memory. It names no task role, so there are no credentials in the task to be found.
 */
export class SandboxTask extends Construct {
  /** With its revision. */
  readonly taskDefinitionArn: string;
  readonly family: string;
  /** What a manifest says that the sandbox was: the image's digest, and a hash of the profile and of all that is here. */
  readonly imageIdentity: string;

  constructor(scope: Construct, id: string, props: SandboxTaskProps) {
    super(scope, id);
    const { profile, image, executionRole } = props;
    const size = sandboxSize(profile);
    if ('problem' in size) throw new Error(`sandbox profile ${profile.name} ${size.problem}`);
    this.family = sandboxFamily(profile.name);
    const shape = taskShape(props, size);
    const definition = new ecs.CfnTaskDefinition(this, 'Definition', {
      family: this.family,
      ...shape.task,
      executionRoleArn: executionRole.roleArn,
      containerDefinitions: [
        {
          ...shape.container,
          image: image.uri,
          logConfiguration: {
            logDriver: 'awslogs',
            options: {
              'awslogs-group': props.logGroup.logGroupName,
              'awslogs-region': Stack.of(this).region,
              ...shape.logs,
            },
          },
        },
      ],
    });
    // Functions name a revision until they are deployed themselves, and those under way for as long as they run.
    definition.cfnOptions.updateReplacePolicy = CfnDeletionPolicy.RETAIN;
    definition.cfnOptions.deletionPolicy = CfnDeletionPolicy.DELETE;
    this.taskDefinitionArn = definition.ref;
    const described = JSON.stringify({ image: image.contentId, profile, ...shape });
    const hash = createHash('sha256').update(described).digest('hex').slice(0, 16);
    this.imageIdentity = `${image.digest}/${hash}`;
  }
}

/** All of a task definition that is known at synth. */
function taskShape({ profile, architecture }: SandboxTaskProps, size: SandboxSize) {
  return {
    task: {
      cpu: String(size.cpu_units),
      memory: String(size.memory_mib),
      networkMode: 'awsvpc',
      requiresCompatibilities: ['FARGATE'],
      runtimePlatform: {
        cpuArchitecture: architecture === 'arm64' ? 'ARM64' : 'X86_64',
        operatingSystemFamily: 'LINUX',
      },
    },
    container: {
      name: SANDBOX_CONTAINER,
      essential: true,
      readonlyRootFilesystem: true,
      portMappings: [{ containerPort: SANDBOX_PORT, protocol: 'tcp' }],
      linuxParameters: {
        // Processes that a command leaves behind have a parent that takes them.
        initProcessEnabled: true,
        // By name, since Fargate gives nothing back that ALL has taken.
        capabilities: { drop: [...DROPPED_CAPABILITIES] },
        tmpfs: size.mounts.map(({ path, mebibytes }) => ({
          containerPath: path,
          size: mebibytes,
          mountOptions: [...SANDBOX_MOUNT_OPTIONS],
        })),
      },
      ulimits: [
        { name: 'core', softLimit: 0, hardLimit: 0 },
        { name: 'nofile', softLimit: OPEN_FILES, hardLimit: OPEN_FILES },
      ],
      stopTimeout: STOP_SECONDS,
    },
    logs: {
      'awslogs-stream-prefix': profile.name,
      // A daemon that waits for its log would let a command hold it up.
      mode: 'non-blocking',
      'max-buffer-size': '1m',
    },
  };
}
