import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { DeploymentSettings } from '../../../shared/contracts/deployment-settings.ts';
import { type ApiFunction, ROUTES } from '../../../shared/contracts/routes.ts';
import { acknowledge } from '../acknowledge.ts';
import { accessLogFormat } from './access-log-format.ts';
import { API_STAGE, SCOPES_PATH } from './api-stage.ts';
import { crossAccountPolicy } from './cross-account-policy.ts';
import { addGatewayResponses } from './gateway-responses.ts';

export interface SkillApiProps {
  readonly settings: DeploymentSettings;
  /** One for each function that the route table names. */
  readonly functions: ReadonlyMap<ApiFunction, lambda.Function>;
  readonly accessLog: logs.LogGroup;
}

/** The HTTP API of the route table: signed calls only, each route by its name, exact bytes both ways. */
export class SkillApi extends Construct {
  readonly api: apigateway.RestApi;

  constructor(scope: Construct, id: string, props: SkillApiProps) {
    super(scope, id);
    const { settings } = props;
    const policy = crossAccountPolicy({
      bindings: settings.bindings,
      account: Stack.of(this).account,
      stage: API_STAGE,
    });
    this.api = new apigateway.RestApi(this, 'Api', {
      restApiName: settings.deployment,
      endpointConfiguration: { types: [apigateway.EndpointType.REGIONAL] },
      ...(policy === undefined ? {} : { policy }),
      binaryMediaTypes: ['*/*'],
      defaultMethodOptions: { authorizationType: apigateway.AuthorizationType.IAM },
      deployOptions: stageOptions(props),
      // Access logs need the account's role for CloudWatch. One account and Region has one such setting for all of its
      // APIs, so it stays when this API goes: others may be logging by it.
      cloudWatchRole: true,
      cloudWatchRoleRemovalPolicy: settings.retain_data ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    // The stack says where the API is.
    this.api.node.tryRemoveChild('Endpoint');
    requireModernTls(this.api);
    this.#addRoutes(props.functions);
    addGatewayResponses(this.api);
    acknowledge(this, reasons(settings));
  }

  #addRoutes(functions: SkillApiProps['functions']): void {
    const integrations = new Map([...functions].map(([name, fn]) => [name, this.#integrate(fn)]));
    for (const route of ROUTES) {
      const integration = integrations.get(route.function);
      if (integration === undefined) throw new Error(`no function serves ${route.operation}`);
      this.api.root.resourceForPath(route.resource).addMethod(route.method, integration);
    }
  }

  /** One permission a function, for this stage, where the CDK's own integration would write one for each method. */
  #integrate(fn: lambda.Function): apigateway.Integration {
    fn.addPermission('FromApi', {
      principal: new iam.ServicePrincipal('apigateway.amazonaws.com'),
      sourceArn: this.api.arnForExecuteApi('*', SCOPES_PATH, API_STAGE),
    });
    return new apigateway.AwsIntegration({
      service: 'lambda',
      path: `2015-03-31/functions/${fn.functionArn}/invocations`,
      proxy: true,
      options: { timeout: Duration.seconds(29) },
    });
  }
}

const stageOptions = ({ settings, accessLog }: SkillApiProps): apigateway.StageOptions => ({
  stageName: API_STAGE,
  throttlingRateLimit: settings.api_rate,
  throttlingBurstLimit: settings.api_burst,
  accessLogDestination: new apigateway.LogGroupLogDestination(accessLog),
  accessLogFormat: accessLogFormat(settings.deployment),
  // Execution logs and traces hold the path of each request, and with it the scope.
  loggingLevel: apigateway.MethodLoggingLevel.OFF,
  dataTraceEnabled: false,
  tracingEnabled: false,
  // Metrics by method are paid for each; those of the stage are free, and the access log has the route.
  metricsEnabled: false,
});

/** A Regional API takes TLS 1.0 unless told otherwise. Strict: a name other than its own is refused. */
function requireModernTls(api: apigateway.RestApi): void {
  const resource = api.node.defaultChild;
  if (!(resource instanceof apigateway.CfnRestApi)) throw new Error('a REST API without its resource');
  resource.securityPolicy = 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09';
  resource.endpointAccessMode = 'STRICT';
}

const EXECUTION_LOG =
  'Execution logs hold the path of each request, and with it the scope; the access log has what is needed.';
const FIREWALL =
  'A setting puts a firewall in front; without it every call still needs a signature and a binding.';

const reasons = ({ waf }: DeploymentSettings): Readonly<Record<string, string>> => ({
  'AwsSolutions-APIG2':
    'Handlers check each request against its schema, and answer with every problem of it.',
  'AwsSolutions-APIG6': EXECUTION_LOG,
  'AwsSolutions-COG4': 'Callers are IAM principals: every method asks for their signature.',
  'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]':
    'The role is that of all APIs of the account in this Region, whose log groups this deployment does not know.',
  'NIST.800.53.R5-APIGWCacheEnabledAndEncrypted':
    'Answers differ by caller and scope and must be fresh: they are not cached.',
  'NIST.800.53.R5-APIGWExecutionLoggingEnabled': EXECUTION_LOG,
  'NIST.800.53.R5-APIGWSSLEnabled':
    'There is no backend over HTTP that would have to know API Gateway by a certificate.',
  'Serverless-APIGWXrayEnabled': 'A trace holds the path of the request, and with it the scope.',
  ...(waf ? {} : { 'AwsSolutions-APIG3': FIREWALL, 'NIST.800.53.R5-APIGWAssociatedWithWAF': FIREWALL }),
});
