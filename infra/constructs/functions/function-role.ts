import { ArnFormat, Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as logs from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { acknowledge, OWN_INLINE_POLICY } from '../acknowledge.ts';

export interface FunctionRoleProps {
  readonly functionName: string;
  readonly logGroup: logs.ILogGroup;
  /** Whether the function has network interfaces in the VPC. */
  readonly vpc: boolean;
  /** Whether it sends traces. */
  readonly traced: boolean;
  readonly grants: readonly iam.PolicyStatement[];
}

/** The role of one function: its own logs, and what it is granted. */
export class FunctionRole extends iam.Role {
  constructor(scope: Construct, id: string, props: FunctionRoleProps) {
    super(scope, id, {
      assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com'),
      description: `Of the function ${props.functionName}`,
    });
    const statements = [
      new iam.PolicyStatement({
        actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        resources: [props.logGroup.logGroupArn],
      }),
      ...(props.vpc ? networkInterfaces(Stack.of(this), props.functionName) : []),
      ...(props.traced ? [traces()] : []),
      ...props.grants,
    ];
    for (const statement of statements) this.addToPolicy(statement);
    acknowledge(this, OWN_INLINE_POLICY);
  }
}

/** Traces belong to no resource. */
const traces = (): iam.PolicyStatement =>
  new iam.PolicyStatement({
    actions: ['xray:PutTelemetryRecords', 'xray:PutTraceSegments'],
    resources: ['*'],
  });

/** Lambda itself makes the interfaces with the function's role; the code of the function may not. */
function networkInterfaces(stack: Stack, functionName: string): iam.PolicyStatement[] {
  const actions = [
    'ec2:AssignPrivateIpAddresses',
    'ec2:CreateNetworkInterface',
    'ec2:DeleteNetworkInterface',
    'ec2:DescribeNetworkInterfaces',
    'ec2:DescribeSubnets',
    'ec2:UnassignPrivateIpAddresses',
  ];
  const itself = stack.formatArn({
    service: 'lambda',
    resource: 'function',
    resourceName: functionName,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  return [
    // Lambda asks for them before there is an interface to name.
    new iam.PolicyStatement({ actions, resources: ['*'] }),
    new iam.PolicyStatement({
      effect: iam.Effect.DENY,
      actions,
      resources: ['*'],
      conditions: { ArnEquals: { 'lambda:SourceFunctionArn': itself } },
    }),
  ];
}
