import { Duration } from 'aws-cdk-lib';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as logs from 'aws-cdk-lib/aws-logs';
import type * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import type { DeploymentSettings } from '../../../shared/contracts/deployment-settings.ts';
import type { FunctionSpec } from '../../functions/function-table.ts';
import type { NetworkStack } from '../../stacks/network-stack.ts';
import type { SandboxStack } from '../../stacks/sandbox-stack.ts';
import type { StorageStack } from '../../stacks/storage-stack.ts';
import { acknowledge } from '../acknowledge.ts';
import { EncryptedLogGroup } from '../encrypted-log-group.ts';
import { functionGrants } from './function-grants.ts';
import { FunctionRole } from './function-role.ts';
import { functionEnvironment } from './function-variables.ts';

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
}

/** One Lambda function of the table, with exactly what its spec grants. */
export class CognitionFunction extends Construct {
  readonly spec: FunctionSpec;
  readonly function: lambda.Function;
  readonly logGroup: logs.LogGroup;

  constructor(scope: Construct, id: string, props: CognitionFunctionProps) {
    super(scope, id);
    const { spec, context, stateMachine } = props;
    if (spec.starts_runs !== (stateMachine !== undefined)) {
      throw new Error(`${spec.name} ${spec.starts_runs ? 'needs' : 'has no use for'} the machine of runs`);
    }
    this.spec = spec;
    const functionName = `${context.settings.deployment}-${spec.name}`;
    this.logGroup = new EncryptedLogGroup(this, 'Logs', {
      logGroupName: `/aws/lambda/${functionName}`,
      settings: context.settings,
      encryptionKey: context.storage.key,
    });
    this.function = new lambda.Function(this, 'Function', {
      functionName,
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      handler: 'index.handler',
      code: lambda.Code.fromAsset(bundleOf(context, spec)),
      environment: functionEnvironment(spec, context, stateMachine),
      memorySize: spec.memory_mb,
      timeout: Duration.seconds(spec.timeout_seconds),
      tracing: isTraced(spec) ? lambda.Tracing.ACTIVE : lambda.Tracing.DISABLED,
      logGroup: this.logGroup,
      role: new FunctionRole(this, 'Role', {
        functionName,
        logGroup: this.logGroup,
        vpc: spec.vpc,
        traced: isTraced(spec),
        grants: functionGrants(this, { spec, context, stateMachine }),
      }),
      ...(spec.vpc ? placeIn(context.network) : {}),
    });
    acknowledge(this, reasons(spec));
  }
}

/** A trace of an API call would hold its path, and with it the scope; a state's input is fingerprint and run id. */
const isTraced = ({ kind }: FunctionSpec): boolean => kind === 'step';

function bundleOf({ bundles }: FunctionContext, { name }: FunctionSpec): string {
  const folder = bundles.get(name);
  if (folder === undefined) throw new Error(`there is no bundle of the function ${name}`);
  return folder;
}

const placeIn = ({ vpc, functionSubnets, functionSecurityGroup }: NetworkStack) => ({
  vpc,
  vpcSubnets: { subnets: functionSubnets },
  securityGroups: [functionSecurityGroup],
});

const DEAD_LETTERS =
  'API Gateway and Step Functions see a failure themselves; what EventBridge calls has a queue, or a next round.';

const reasons = (spec: FunctionSpec): Readonly<Record<string, string>> => ({
  'NIST.800.53.R5-LambdaDLQ': DEAD_LETTERS,
  'Serverless-LambdaDLQ': DEAD_LETTERS,
  'NIST.800.53.R5-LambdaConcurrency':
    'A fixed share for each function would leave some waiting while others idle; throttles have an alarm.',
  ...(spec.vpc
    ? {}
    : {
        'NIST.800.53.R5-LambdaInsideVPC':
          'It calls AWS only; inside it would need an endpoint for each service, and be reachable from there.',
      }),
  ...(isTraced(spec)
    ? {}
    : {
        'Serverless-LambdaTracing':
          spec.kind === 'api'
            ? 'A trace of a call would hold its path, and with it the scope.'
            : 'Rounds by the clock have no caller to follow; logs and metrics say what they did.',
      }),
});
