import { Stack } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { type EcsCall, FUNCTIONS } from '../../functions/function-table.ts';
import type { SandboxStack } from '../../stacks/sandbox-stack.ts';
import type { StorageStack } from '../../stacks/storage-stack.ts';
import { type Conditions, taskPermissions } from '../sandbox/task-permissions.ts';
import type { ClosedVpc } from './closed-vpc.ts';

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
  readonly #network: ClosedVpc;

  constructor(scope: Construct, id: string, { network, storage, sandbox }: FunctionEndpointsProps) {
    super(scope, id);
    this.#network = network;
    this.#reachTable(storage);
    this.#reachBuckets(storage);
    this.#reachTasks(sandbox);
  }

  #reachTable({ table }: StorageStack): void {
    const actions = [
      'dynamodb:ConditionCheckItem',
      'dynamodb:DeleteItem',
      'dynamodb:GetItem',
      'dynamodb:PutItem',
      'dynamodb:Query',
    ];
    const endpoint = this.#gateway('Table', ec2.GatewayVpcEndpointAwsService.DYNAMODB);
    endpoint.addToPolicy(this.#own(actions, [table.tableArn]));
  }

  #reachBuckets({ artifacts, packages }: StorageStack): void {
    const buckets = packages === undefined ? [artifacts] : [artifacts, packages];
    const objects = buckets.map((bucket) => bucket.arnForObjects('*'));
    const endpoint = this.#gateway('Buckets', ec2.GatewayVpcEndpointAwsService.S3);
    endpoint.addToPolicy(this.#own(['s3:GetObject', 's3:PutObject'], objects));
    endpoint.addToPolicy(
      this.#own(
        ['s3:ListBucket'],
        buckets.map((bucket) => bucket.bucketArn),
      ),
    );
  }

  #reachTasks(sandbox: SandboxStack): void {
    const endpoint = new ec2.InterfaceVpcEndpoint(this, 'Ecs', {
      vpc: this.#network.vpc,
      service: ec2.InterfaceVpcEndpointAwsService.ECS,
      subnets: { subnets: this.#network.endpointSubnets },
      securityGroups: [this.#network.functionEndpointGroup],
      open: false,
    });
    const permissions = taskPermissions(this, sandbox);
    for (const call of CALLS) {
      for (const { actions, resources, conditions } of permissions[call]) {
        endpoint.addToPolicy(this.#own(actions, resources, conditions));
      }
    }
  }

  #gateway(name: string, service: ec2.GatewayVpcEndpointAwsService): ec2.GatewayVpcEndpoint {
    const { vpc, functionSubnets: subnets } = this.#network;
    return new ec2.GatewayVpcEndpoint(this, name, { vpc, service, subnets: [{ subnets }] });
  }

  /** For principals of this account, so that nobody's credentials from elsewhere are of use here. */
  #own(actions: string[], resources: string[], conditions: Conditions = {}): iam.PolicyStatement {
    const { account } = Stack.of(this);
    return new iam.PolicyStatement({
      principals: [new iam.AnyPrincipal()],
      actions,
      resources,
      conditions: {
        ...conditions,
        StringEquals: { 'aws:PrincipalAccount': account, ...conditions.StringEquals },
      },
    });
  }
}

/** Of the functions in these subnets. */
const CALLS: ReadonlySet<EcsCall> = new Set(FUNCTIONS.filter(({ vpc }) => vpc).flatMap(({ ecs }) => ecs));
