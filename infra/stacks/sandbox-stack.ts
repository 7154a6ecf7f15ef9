import { Stack, type StackProps } from 'aws-cdk-lib';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import * as iam from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import type { DeploymentSettings } from '../../shared/contracts/deployment-settings.ts';
import { SANDBOX_CONTAINER, sandboxFamily } from '../../shared/contracts/ecs-task.ts';
import type { NetworkStack } from './network-stack.ts';
import type { StorageStack } from './storage-stack.ts';

export interface SandboxStackProps extends StackProps {
  readonly settings: DeploymentSettings;
  readonly storage: StorageStack;
  readonly network: NetworkStack;
}

/** The cluster, and one task definition for each sandbox profile. */
export class SandboxStack extends Stack {
  readonly cluster: ecs.Cluster;
  readonly executionRole: iam.Role;
  /** By the profile's name. */
  readonly taskDefinitions: Readonly<Record<string, ecs.FargateTaskDefinition>>;
  /** By the profile's name: what the run's manifest says the sandbox was. */
  readonly imageIdentities: Readonly<Record<string, string>>;

  constructor(scope: Construct, id: string, props: SandboxStackProps) {
    super(scope, id, props);
    const { settings, network } = props;
    this.cluster = new ecs.Cluster(this, 'Cluster', { vpc: network.vpc });
    this.executionRole = new iam.Role(this, 'ExecutionRole', {
      assumedBy: new iam.ServicePrincipal('ecs-tasks.amazonaws.com'),
    });
    const definitions = settings.profiles.map(({ name }) => {
      const definition = new ecs.FargateTaskDefinition(this, `Task-${name}`, {
        family: sandboxFamily(name),
        executionRole: this.executionRole,
      });
      definition.addContainer(SANDBOX_CONTAINER, {
        image: ecs.ContainerImage.fromRegistry(settings.sandbox_image ?? 'scratch'),
      });
      return [name, definition] as const;
    });
    this.taskDefinitions = Object.fromEntries(definitions);
    this.imageIdentities = Object.fromEntries(settings.profiles.map(({ name }) => [name, name]));
  }
}
