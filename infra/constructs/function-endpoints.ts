import { Stack } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { type EcsCall, FUNCTIONS } from '../functions/function-table.ts';
import type { SandboxStack } from '../stacks/sandbox-stack.ts';
import type { StorageStack } from '../stacks/storage-stack.ts';
import type { ClosedVpc } from './closed-vpc.ts';
import { type Conditions, taskPermissions } from './task-permissions.ts';

export interface FunctionEndpointsProps {
  readonly network: ClosedVpc;
  readonly storage: StorageStack;
  readonly sandbox: SandboxStack;
}

/**
 * The ways out of the subnets of functions: the deployment's own table and buckets, free of charge, and ECS, which says
 * at once that a sandbox is gone where its daemon's silence would take until a deadline. Keys are used by those services
 * in the caller's name, and logs and traces leave by Lambda: neither needs a way from here.
 */
export class FunctionEndpoints extends Construct {
  constructor(scope: Construct, id: string, { network, storage, sandbox }: FunctionEndpointsProps) {
    super(scope, id);
    const { account } = Stack.of(this);
    /** Principals of this account, so that nobody's credentials from elsewhere are of use here. */
    const own = (actions: string[], resources: string[], conditions: Conditions = {}) =>
      new iam.PolicyStatement({
        principals: [new iam.AnyPrincipal()],
        actions,
        resources,
        conditions: {
          ...conditions,
          StringEquals: { 'aws:PrincipalAccount': account, ...conditions.StringEquals },
        },
      });
    const gateway = (name: string, service: ec2.GatewayVpcEndpointAwsService) =>
      new ec2.GatewayVpcEndpoint(this, name, {
        vpc: network.vpc,
        service,
        subnets: [{ subnets: network.functionSubnets }],
      });
    gateway('Table', ec2.GatewayVpcEndpointAwsService.DYNAMODB).addToPolicy(
      own(
        [
          'dynamodb:ConditionCheckItem',
          'dynamodb:DeleteItem',
          'dynamodb:GetItem',
          'dynamodb:PutItem',
          'dynamodb:Query',
        ],
        [storage.table.tableArn],
      ),
    );
    const buckets =
      storage.packages === undefined ? [storage.artifacts] : [storage.artifacts, storage.packages];
    const objects = gateway('Buckets', ec2.GatewayVpcEndpointAwsService.S3);
    objects.addToPolicy(
      own(
        ['s3:GetObject', 's3:PutObject'],
        buckets.map((bucket) => bucket.arnForObjects('*')),
      ),
    );
    objects.addToPolicy(
      own(
        ['s3:ListBucket'],
        buckets.map((bucket) => bucket.bucketArn),
      ),
    );
    const tasks = new ec2.InterfaceVpcEndpoint(this, 'Ecs', {
      vpc: network.vpc,
      service: ec2.InterfaceVpcEndpointAwsService.ECS,
      subnets: { subnets: network.endpointSubnets },
      securityGroups: [network.functionEndpointGroup],
      open: false,
    });
    const permissions = taskPermissions(this, sandbox);
    for (const call of CALLS) {
      for (const { actions, resources, conditions } of permissions[call]) {
        tasks.addToPolicy(own(actions, resources, conditions));
      }
    }
  }
}

/** Of the functions in these subnets. */
const CALLS: ReadonlySet<EcsCall> = new Set(FUNCTIONS.filter(({ vpc }) => vpc).flatMap(({ ecs }) => ecs));
