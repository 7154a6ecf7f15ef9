import { Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as logs from 'aws-cdk-lib/aws-logs';
import * as cr from 'aws-cdk-lib/custom-resources';
import { Construct } from 'constructs';
import { acknowledge, OWN_INLINE_POLICY } from './acknowledge.ts';

export interface LookUpProps {
  /** `Custom::` and what is looked up. */
  readonly resourceType: string;
  /** Of the AWS SDK. */
  readonly call: { readonly service: string; readonly action: string };
  readonly parameters: unknown;
  /** Where in the answer the value is. */
  readonly path: string;
  /** It is asked again when this changes. */
  readonly of: string;
  /** What the call needs. */
  readonly permission: { readonly action: string; readonly resource: string };
  /** Of the function that asks. */
  readonly logGroup: logs.ILogGroup;
}

/** Something that AWS tells only at deployment: one call, by a function of the CDK. */
export class LookUp extends Construct {
  /** A token. */
  readonly value: string;

  constructor(scope: Construct, id: string, props: LookUpProps) {
    super(scope, id);
    const { action, resource } = props.permission;
    const asked = new cr.AwsCustomResource(this, 'Call', {
      resourceType: props.resourceType,
      onUpdate: {
        ...props.call,
        parameters: props.parameters,
        physicalResourceId: cr.PhysicalResourceId.of(props.of),
        outputPaths: [props.path],
      },
      policy: cr.AwsCustomResourcePolicy.fromStatements([
        new iam.PolicyStatement({ actions: [action], resources: [resource] }),
      ]),
      // What Lambda brings along will do, and downloads nothing.
      installLatestAwsSdk: false,
      memorySize: MEMORY_MB,
      logGroup: props.logGroup,
    });
    this.value = asked.getResponseField(props.path);
    acknowledge(this, OWN_INLINE_POLICY);
    acknowledge(askingFunction(this), ASKING_FUNCTION);
  }
}

const MEMORY_MB = 256;

/** All look-ups of a stack share one. */
function askingFunction(scope: Construct): lambda.Function {
  const id = `AWS${cr.AwsCustomResource.PROVIDER_FUNCTION_UUID.replaceAll('-', '')}`;
  const found = Stack.of(scope).node.children.find(({ node }) => node.id.startsWith(id));
  if (found instanceof lambda.Function) return found;
  throw new Error('the function that looks things up is not where the CDK has put it so far');
}

const ONCE = 'It is called by CloudFormation alone, once for each deployment that changes what it looks up';

const ASKING_FUNCTION = {
  'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]': `${ONCE}, and the policy lets it write its log.`,
  'NIST.800.53.R5-LambdaConcurrency': `${ONCE}: there is nothing to limit.`,
  'NIST.800.53.R5-LambdaDLQ': `${ONCE}, and its failure is the failure of the deployment.`,
  'Serverless-LambdaDLQ': `${ONCE}, and its failure is the failure of the deployment.`,
  'NIST.800.53.R5-LambdaInsideVPC': `${ONCE}, and asks services that the network has no way to.`,
  'Serverless-LambdaTracing': `${ONCE}: there is no request to follow.`,
};
