import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type * as apigateway from 'aws-cdk-lib/aws-apigateway';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { type ApiFunction, ROUTES } from '../../shared/contracts/routes.ts';
import type { ScopeBinding } from '../../shared/contracts/scope.ts';
import { SkillApi } from '../constructs/api/skill-api.ts';
import { WebAcl } from '../constructs/api/web-acl.ts';
import { EncryptedLogGroup } from '../constructs/encrypted-log-group.ts';
import { CognitionFunction, type FunctionContext } from '../constructs/functions/cognition-function.ts';
import { LogCount } from '../constructs/observability/log-count.ts';
import { functionSpec } from '../functions/function-table.ts';
import type { RunsStack } from './runs-stack.ts';

export interface ApiStackProps extends StackProps {
  readonly context: FunctionContext;
  readonly runs: RunsStack;
}

/** The front of the deployment: the API, its functions, and a firewall where the settings want one. */
export class ApiStack extends Stack {
  readonly api: apigateway.RestApi;
  readonly functions: ReadonlyMap<ApiFunction, lambda.Function>;

  constructor(scope: Construct, id: string, props: ApiStackProps) {
    super(scope, id, props);
    const { settings } = props.context;
    this.functions = this.#functionsOf(props);
    const { functions } = this;
    const accessLog = this.#logGroup(props.context, 'AccessLog', `/aws/apigateway/${settings.deployment}`);
    new LogCount(this, 'ThrottledCalls', { logGroup: accessLog, counts: 'ApiThrottled' });
    this.api = new SkillApi(this, 'SkillApi', { settings, functions, accessLog }).api;
    if (settings.waf) this.#protect(props.context);
    this.#printNextStep(settings.bindings);
  }

  #functionsOf({ context, runs }: ApiStackProps): ReadonlyMap<ApiFunction, lambda.Function> {
    const names = new Set(ROUTES.map((route) => route.function));
    return new Map(
      [...names].map((name) => {
        const spec = functionSpec(name);
        const made = new CognitionFunction(this, `Function-${name}`, {
          spec,
          context,
          ...(spec.starts_runs ? { stateMachine: runs.stateMachine } : {}),
        });
        return [name, made.function];
      }),
    );
  }

  #protect(context: FunctionContext): void {
    const { deployment, api_rate } = context.settings;
    new WebAcl(this, 'WebAcl', {
      deployment,
      stageArn: this.api.deploymentStage.stageArn,
      logGroup: this.#logGroup(context, 'WafLog', `aws-waf-logs-${deployment}`),
      // Half of what the API takes from everybody, held for five minutes; WAF counts from 10 up.
      requestsPerAddress: Math.max(10, Math.ceil((api_rate * 300) / 2)),
    });
  }

  #logGroup({ settings, storage }: FunctionContext, id: string, logGroupName: string): EncryptedLogGroup {
    return new EncryptedLogGroup(this, id, { logGroupName, settings, encryptionKey: storage.key });
  }

  #printNextStep(bindings: readonly ScopeBinding[]): void {
    const url = this.api.url.replace(/\/$/, '');
    new CfnOutput(this, 'Url', { value: url, description: 'What clients call, with SigV4' });
    new CfnOutput(this, 'NextCommand', {
      value: `export COGNITION_ENDPOINT=${url} COGNITION_SCOPE=${exampleScope(bindings)}; npx cognition doctor`,
      description: 'Type this with credentials of a role that the bindings name',
    });
  }
}

/** Of the first binding; `*` stands for a value of the caller's choice. */
function exampleScope(bindings: readonly ScopeBinding[]): string {
  const scope = bindings[0]?.scopes[0] ?? {};
  return Object.entries(scope)
    .map(([key, value]) => `${key}=${value === '*' ? 'demo' : value}`)
    .join(',');
}
