import { Stack } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { SandboxStack } from '../stacks/sandbox-stack.ts';
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
  constructor(scope: Construct, id: string, { network, sandbox }: SandboxEndpointsProps) {
    super(scope, id);
    const { executionRole, image, logGroup } = sandbox;
    const byFargate = (actions: string[], resources: string[]): iam.PolicyStatement =>
      new iam.PolicyStatement({
        principals: [new iam.AnyPrincipal()],
        actions,
        resources,
        conditions: { ArnEquals: { 'aws:PrincipalArn': executionRole.roleArn } },
      });
    const endpoint = (name: string, service: ec2.InterfaceVpcEndpointAwsService) =>
      new ec2.InterfaceVpcEndpoint(this, name, {
        vpc: network.vpc,
        service,
        subnets: { subnets: network.endpointSubnets },
        securityGroups: [network.sandboxEndpointGroup],
        open: false,
      });
    const registries = [
      endpoint('EcrApi', ec2.InterfaceVpcEndpointAwsService.ECR),
      endpoint('EcrDocker', ec2.InterfaceVpcEndpointAwsService.ECR_DOCKER),
    ];
    for (const registry of registries) {
      registry.addToPolicy(byFargate(['ecr:GetAuthorizationToken'], ['*']));
      // Emulators have the image elsewhere.
      if (image.repository === undefined) continue;
      registry.addToPolicy(
        byFargate(
          ['ecr:BatchCheckLayerAvailability', 'ecr:BatchGetImage', 'ecr:GetDownloadUrlForLayer'],
          [image.repository.arn],
        ),
      );
    }
    endpoint('Logs', ec2.InterfaceVpcEndpointAwsService.CLOUDWATCH_LOGS).addToPolicy(
      byFargate(['logs:CreateLogStream', 'logs:PutLogEvents'], [logGroup.logGroupArn]),
    );
    const layers = new ec2.GatewayVpcEndpoint(this, 'Layers', {
      vpc: network.vpc,
      service: ec2.GatewayVpcEndpointAwsService.S3,
      subnets: [{ subnets: network.sandboxSubnets }],
    });
    layers.addToPolicy(
      new iam.PolicyStatement({
        // Layers are fetched by signed URLs of ECR's own.
        principals: [new iam.AnyPrincipal()],
        actions: ['s3:GetObject'],
        resources: [`arn:${Stack.of(this).partition}:s3:::${layerBucket(this)}/*`],
      }),
    );
  }
}

/** Where ECR keeps the layers of all images of a Region. */
export const layerBucket = (scope: Construct): string =>
  `prod-${Stack.of(scope).region}-starport-layer-bucket`;
