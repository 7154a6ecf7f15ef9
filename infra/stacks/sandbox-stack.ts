import { ArnFormat, Stack, type StackProps } from 'aws-cdk-lib';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as logs from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { DeploymentSettings } from '../../shared/contracts/deployment-settings.ts';
import { acknowledge, OWN_INLINE_POLICY } from '../constructs/acknowledge.ts';
import { EncryptedLogGroup } from '../constructs/encrypted-log-group.ts';
import { SandboxImage } from '../constructs/sandbox/sandbox-image.ts';
import { SandboxTask } from '../constructs/sandbox/sandbox-task.ts';
import type { StorageStack } from './storage-stack.ts';

export interface SandboxStackProps extends StackProps {
  readonly settings: DeploymentSettings;
  readonly storage: StorageStack;
  /** Folder that the image is built in; required where the settings name no image. */
  readonly imageContext: string | undefined;
}

export interface SandboxCluster {
  readonly clusterName: string;
  readonly clusterArn: string;
}

/** What sandboxes are: their image, one task definition for each profile, and the cluster that they run in. */
export class SandboxStack extends Stack {
  readonly cluster: SandboxCluster;
  readonly image: SandboxImage;
  /** What Fargate itself may do to start a task: pull the image, and write the log. */
  readonly executionRole: iam.Role;
  readonly logGroup: logs.LogGroup;
  /** By the profile's name. */
  readonly taskDefinitions: Readonly<Record<string, SandboxTask>>;
  /** By the profile's name: what the run's manifest says the sandbox was. */
  readonly imageIdentities: Readonly<Record<string, string>>;

  constructor(scope: Construct, id: string, props: SandboxStackProps) {
    super(scope, id, props);
    const { settings, storage, imageContext } = props;
    const { deployment } = settings;
    this.cluster = this.#cluster(deployment);
    const encryptionKey = storage.key;
    this.logGroup = new EncryptedLogGroup(this, 'Logs', {
      logGroupName: `/cognition/${deployment}/sandboxes`,
      settings,
      encryptionKey,
    });
    this.image = new SandboxImage(this, 'Image', { settings, context: imageContext, encryptionKey });
    this.executionRole = this.#executionRole();
    const tasks = settings.profiles.map((profile) => {
      const task = new SandboxTask(this, `Task-${profile.name}`, {
        profile,
        image: this.image,
        architecture: settings.sandbox_architecture,
        executionRole: this.executionRole,
        logGroup: this.logGroup,
      });
      return [profile.name, task] as const;
    });
    this.taskDefinitions = Object.fromEntries(tasks);
    this.imageIdentities = Object.fromEntries(tasks.map(([name, task]) => [name, task.imageIdentity]));
  }

  /** Without a VPC: it is said for each task. The CDK's own construct would insist on one. */
  #cluster(clusterName: string): SandboxCluster {
    const { attrArn } = new ecs.CfnCluster(this, 'Cluster', {
      clusterName,
      clusterSettings: [{ name: 'containerInsights', value: 'enabled' }],
      // Where GuardDuty watches all clusters of an account, it would put an agent beside each daemon, which has no way
      // out from here, and whose lookups would look like attempts to break out.
      tags: [{ key: 'GuardDutyManaged', value: 'false' }],
    });
    return { clusterName, clusterArn: attrArn };
  }

  #executionRole(): iam.Role {
    const anyTask = this.formatArn({ service: 'ecs', resource: '*', arnFormat: ArnFormat.NO_RESOURCE_NAME });
    const role = new iam.Role(this, 'ExecutionRole', {
      assumedBy: new iam.ServicePrincipal('ecs-tasks.amazonaws.com', {
        conditions: {
          StringEquals: { 'aws:SourceAccount': this.account },
          ArnLike: { 'aws:SourceArn': anyTask },
        },
      }),
      description: 'Starts sandboxes: pulls their image and writes their log',
    });
    acknowledge(role, OWN_INLINE_POLICY);
    const allow = (actions: string[], resource: string): void => {
      role.addToPolicy(new iam.PolicyStatement({ actions, resources: [resource] }));
    };
    allow(['logs:CreateLogStream', 'logs:PutLogEvents'], this.logGroup.logGroupArn);
    if (this.image.repository === undefined) return role;
    allow(
      ['ecr:BatchCheckLayerAvailability', 'ecr:BatchGetImage', 'ecr:GetDownloadUrlForLayer'],
      this.image.repository.arn,
    );
    // A token is for the registry as a whole; what may be pulled with it is said above.
    allow(['ecr:GetAuthorizationToken'], '*');
    return role;
  }
}
