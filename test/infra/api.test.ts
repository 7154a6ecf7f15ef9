import { describe, expect, it } from 'vitest';
import { REFUSALS } from '../../infra/constructs/api/gateway-responses.ts';
import { ERROR_CODES, problemSchema } from '../../shared/contracts/error-codes.ts';
import { ROUTES } from '../../shared/contracts/routes.ts';
import { textOf } from './support/policy-statements.ts';
import {
  type Properties,
  resourcesOf,
  type StackTemplate,
  templateOf,
  type VariantName,
  variant,
} from './support/synthesize.ts';

const template = (name: VariantName = 'production') => templateOf(name, 'api');
const only = (type: string, name?: VariantName): Properties => {
  const [found, ...more] = resourcesOf(template(name), type);
  expect(more).toEqual([]);
  return found?.Properties ?? {};
};

/** Methods as `GET /v1/scopes/{scopeRef}/skills`, each with its properties. */
function methodsOf(of: StackTemplate): ReadonlyMap<string, Properties> {
  const pathOf = (reference: unknown): string => {
    const { Ref: id = '' } = reference as { Ref?: string };
    const properties = of.Resources[id]?.Properties;
    return properties === undefined ? '' : `${pathOf(properties.ParentId)}/${String(properties.PathPart)}`;
  };
  return new Map(
    resourcesOf(of, 'AWS::ApiGateway::Method').map(({ Properties = {} }) => [
      `${String(Properties.HttpMethod)} ${pathOf(Properties.ResourceId)}`,
      Properties,
    ]),
  );
}

describe('routes of the API', () => {
  it('are those of the table, each by its own name', () => {
    const routes = ROUTES.map(({ method, resource }) => `${method} ${resource}`);

    expect([...methodsOf(template()).keys()].toSorted()).toEqual(routes.toSorted());
    expect(
      resourcesOf(template(), 'AWS::ApiGateway::Resource').filter(({ Properties }) =>
        String(Properties?.PathPart).includes('+'),
      ),
    ).toEqual([]);
  });

  it.each(ROUTES.map((route) => [`${route.method} ${route.resource}`, route.function] as const))(
    '%s asks for a signature and goes to %s',
    (route, functionName) => {
      const method = methodsOf(template()).get(route);
      const integration = method?.Integration as Properties;
      const [, id = ''] = /functions\/\$\{(\w+)\.Arn\}/.exec(textOf(integration.Uri)) ?? [];

      expect(method).toMatchObject({ AuthorizationType: 'AWS_IAM' });
      expect(integration).toMatchObject({ Type: 'AWS_PROXY', TimeoutInMillis: 29_000 });
      expect(template().Resources[id]?.Properties?.FunctionName).toBe(`cognition-${functionName}`);
    },
  );

  it('may invoke each function by one permission, for the stage and the scopes below it', () => {
    const permissions = resourcesOf(template(), 'AWS::Lambda::Permission');

    expect(permissions).toHaveLength(new Set(ROUTES.map((route) => route.function)).size);
    for (const { Properties } of permissions) {
      expect(Properties?.Principal).toBe('apigateway.amazonaws.com');
      expect(textOf(Properties?.SourceArn)).toMatch(
        /^arn:.*:execute-api:.*:\$\{SkillApi\w+\}\/live\/\*\/v1\/scopes\/\*$/,
      );
    }
  });
});

describe('the API', () => {
  it('is Regional, passes bytes as they are, compresses nothing, and takes TLS 1.2 with forward secrecy or better', () => {
    const properties = only('AWS::ApiGateway::RestApi');

    expect(properties).toMatchObject({
      Name: 'cognition',
      BinaryMediaTypes: ['*/*'],
      EndpointConfiguration: { Types: ['REGIONAL'] },
      SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09',
      EndpointAccessMode: 'STRICT',
    });
    expect(Object.keys(properties)).not.toContain('MinimumCompressionSize');
    expect(Object.keys(properties)).not.toContain('DisableExecuteApiEndpoint');
  });

  it('logs request id, route template, status and latency, and nothing that holds a path', () => {
    const { AccessLogSetting } = only('AWS::ApiGateway::Stage') as {
      AccessLogSetting: { Format: string };
    };
    const format = JSON.parse(AccessLogSetting.Format);

    expect(format).toMatchObject({
      request_id: '$context.requestId',
      route: '$context.httpMethod $context.resourcePath',
      status: '$context.status',
      latency_ms: '$context.responseLatency',
    });
    const variables = AccessLogSetting.Format.match(/\$context\.[\w.]+/g) ?? [];
    expect(
      variables.filter((name) => /\.path$|\.error\.message|\.identity|\.authorizer|\.user/.test(name)),
    ).toEqual([]);
  });

  it('has no execution log, no data trace and no X-Ray, which would hold the path', () => {
    expect(only('AWS::ApiGateway::Stage')).toMatchObject({
      StageName: 'live',
      TracingEnabled: false,
      MethodSettings: [
        {
          HttpMethod: '*',
          ResourcePath: '/*',
          LoggingLevel: 'OFF',
          DataTraceEnabled: false,
          MetricsEnabled: false,
        },
      ],
    });
  });

  it('throttles as the settings say', () => {
    const [settings] = only('AWS::ApiGateway::Stage').MethodSettings as Properties[];

    expect(settings?.ThrottlingRateLimit).toBeGreaterThan(0);
    expect(settings?.ThrottlingBurstLimit).toBeGreaterThan(0);
  });

  it('leaves the logging role of the account alone when it goes, unless data goes too', () => {
    const [kept] = resourcesOf(template(), 'AWS::ApiGateway::Account');
    const [gone] = resourcesOf(template('everything'), 'AWS::ApiGateway::Account');

    expect(kept?.DeletionPolicy).toBe('Retain');
    expect(gone?.DeletionPolicy).toBe('Delete');
  });
});

describe('answers that no function gives', () => {
  const responses = new Map(
    resourcesOf(template(), 'AWS::ApiGateway::GatewayResponse').map(({ Properties = {} }) => [
      String(Properties.ResponseType),
      Properties,
    ]),
  );

  it.each(Object.keys(REFUSALS))('%s is a problem with a code of the product and its status', (type) => {
    const response = responses.get(type);
    const body = Object.values(response?.ResponseTemplates as Record<string, string>)[0] ?? '';
    const problem = problemSchema.parse(JSON.parse(body));

    expect(problem).toMatchObject({ ...ERROR_CODES[problem.code], request_id: '$context.requestId' });
    expect(response?.StatusCode).toBe(String(problem.status));
    expect(response?.ResponseParameters).toMatchObject({
      'gatewayresponse.header.Content-Type': "'application/problem+json'",
      'gatewayresponse.header.Cache-Control': "'no-store'",
    });
  });

  it('say nothing of the request but its id', () => {
    const bodies = JSON.stringify([...responses.values()].map(({ ResponseTemplates }) => ResponseTemplates));

    expect(new Set(bodies.match(/\$[\w.]+/g))).toEqual(new Set(['$context.requestId']));
  });

  it('cover what a caller can meet: no signature, no permission, too fast, too large, too slow', () => {
    for (const type of [
      'ACCESS_DENIED',
      'DEFAULT_4XX',
      'DEFAULT_5XX',
      'EXPIRED_TOKEN',
      'INTEGRATION_FAILURE',
      'INTEGRATION_TIMEOUT',
      'INVALID_SIGNATURE',
      'MISSING_AUTHENTICATION_TOKEN',
      'REQUEST_TOO_LARGE',
      'THROTTLED',
      'WAF_FILTERED',
    ]) {
      expect(responses.has(type), type).toBe(true);
    }
  });
});

describe('what a deployment prints', () => {
  it('comes last: the API opens when everything else is there', () => {
    const { app } = variant('production');

    expect(app.synth().stacks.at(-1)?.stackName).toBe('cognition-api');
  });

  it('is the URL and the next command, with a scope that the first binding allows', () => {
    const outputs = template().Outputs ?? {};

    expect(Object.keys(outputs)).toEqual(expect.arrayContaining(['Url', 'NextCommand']));
    expect(textOf(outputs.Url?.Value)).toMatch(/^https:\/\/\$\{SkillApi\w+\}\.execute-api\..*\/\$\{\w+\}$/);
    expect(textOf(outputs.NextCommand?.Value)).toMatch(
      /^export COGNITION_ENDPOINT=https:\S+ COGNITION_SCOPE=tenant=acme,project=demo; npx cognition doctor$/,
    );
  });
});
