import { Duration } from 'aws-cdk-lib';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import type * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import type { DeploymentSettings } from '../../shared/contracts/deployment-settings.ts';
import type { FunctionSpec } from '../functions/function-table.ts';
import type { NetworkStack } from '../stacks/network-stack.ts';
import type { SandboxStack } from '../stacks/sandbox-stack.ts';
import type { StorageStack } from '../stacks/storage-stack.ts';

/** What the functions of one deployment share. */
export interface FunctionContext {
  readonly settings: DeploymentSettings;
  /** Folder of the bundle, by the function's name. */
  readonly bundles: ReadonlyMap<string, string>;
  readonly storage: StorageStack;
  readonly network: NetworkStack;
  readonly sandbox: SandboxStack;
}

export interface CognitionFunctionProps {
  readonly spec: FunctionSpec;
  readonly context: FunctionContext;
  /** The machine of runs; required for a function that starts them, and for no other. */
  readonly stateMachine?: sfn.IStateMachine;
  /** Default: as many at once as the account allows. */
  readonly reservedConcurrentExecutions?: number;
}

/** One Lambda function of the table, with exactly what its spec grants. */
export class CognitionFunction extends Construct {
  readonly spec: FunctionSpec;
  readonly function: lambda.Function;
  readonly logGroup: logs.LogGroup;

  constructor(scope: Construct, id: string, props: CognitionFunctionProps) {
    super(scope, id);
    const { spec, context } = props;
    const { settings, bundles } = context;
    this.spec = spec;
    const functionName = `${settings.deployment}-${spec.name}`;
    this.logGroup = new logs.LogGroup(this, 'Logs', { logGroupName: `/aws/lambda/${functionName}` });
    this.function = new lambda.Function(this, 'Function', {
      functionName,
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      handler: 'index.handler',
      code: lambda.Code.fromAsset(bundles.get(spec.name) ?? ''),
      memorySize: spec.memory_mb,
      timeout: Duration.seconds(spec.timeout_seconds),
      logGroup: this.logGroup,
      ...(spec.vpc
        ? {
            vpc: context.network.vpc,
            vpcSubnets: { subnets: context.network.functionSubnets },
            securityGroups: [context.network.functionSecurityGroup],
          }
        : {}),
    });
  }
}
