import { Stack } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { SandboxStack } from '../../stacks/sandbox-stack.ts';
import type { ClosedVpc } from './closed-vpc.ts';

export interface SandboxEndpointsProps {
  readonly network: ClosedVpc;
  readonly sandbox: SandboxStack;
}

/**
 * The ways out of the subnets of sandboxes, each for what Fargate does before a command runs: pull one image, write one
 * log. Anybody may have a signed URL of a bucket, so S3 is open for the bucket that holds the layers of images, and for
 * no other.
 */
export class SandboxEndpoints extends Construct {
  readonly #network: ClosedVpc;

  constructor(scope: Construct, id: string, { network, sandbox }: SandboxEndpointsProps) {
    super(scope, id);
    this.#network = network;
    this.#reachRegistry(sandbox);
    this.#reachLog(sandbox);
    this.#reachLayers();
  }

  #reachRegistry({ image, executionRole }: SandboxStack): void {
    const registries = [
      this.#interface('EcrApi', ec2.InterfaceVpcEndpointAwsService.ECR),
      this.#interface('EcrDocker', ec2.InterfaceVpcEndpointAwsService.ECR_DOCKER),
    ];
    const pull = ['ecr:BatchCheckLayerAvailability', 'ecr:BatchGetImage', 'ecr:GetDownloadUrlForLayer'];
    for (const registry of registries) {
      registry.addToPolicy(only(executionRole, ['ecr:GetAuthorizationToken'], '*'));
      // Emulators have the image elsewhere.
      if (image.repository !== undefined)
        registry.addToPolicy(only(executionRole, pull, image.repository.arn));
    }
  }

  #reachLog({ executionRole, logGroup }: SandboxStack): void {
    const endpoint = this.#interface('Logs', ec2.InterfaceVpcEndpointAwsService.CLOUDWATCH_LOGS);
    const actions = ['logs:CreateLogStream', 'logs:PutLogEvents'];
    endpoint.addToPolicy(only(executionRole, actions, logGroup.logGroupArn));
  }

  #reachLayers(): void {
    const endpoint = new ec2.GatewayVpcEndpoint(this, 'Layers', {
      vpc: this.#network.vpc,
      service: ec2.GatewayVpcEndpointAwsService.S3,
      subnets: [{ subnets: this.#network.sandboxSubnets }],
    });
    endpoint.addToPolicy(
      new iam.PolicyStatement({
        // Layers are fetched by signed URLs of ECR's own.
        principals: [new iam.AnyPrincipal()],
        actions: ['s3:GetObject'],
        resources: [`arn:${Stack.of(this).partition}:s3:::${layerBucket(this)}/*`],
      }),
    );
  }

  #interface(name: string, service: ec2.InterfaceVpcEndpointAwsService): ec2.InterfaceVpcEndpoint {
    return new ec2.InterfaceVpcEndpoint(this, name, {
      vpc: this.#network.vpc,
      service,
      subnets: { subnets: this.#network.endpointSubnets },
      securityGroups: [this.#network.sandboxEndpointGroup],
      open: false,
    });
  }
}

/** For Fargate itself, as it starts a task: a sandbox has no role to call with. */
const only = (role: iam.IRole, actions: string[], resource: string): iam.PolicyStatement =>
  new iam.PolicyStatement({
    principals: [new iam.AnyPrincipal()],
    actions,
    resources: [resource],
    conditions: { ArnEquals: { 'aws:PrincipalArn': role.roleArn } },
  });

/** Where ECR keeps the layers of all images of a Region. */
export const layerBucket = (scope: Construct): string =>
  `prod-${Stack.of(scope).region}-starport-layer-bucket`;
