/** The request as the REST proxy event that API Gateway makes of it, and the context that Lambda adds. */
import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { ApiContext } from '../../../functions/runtime/api-call.ts';
import type { Route } from '../../../shared/contracts/routes.ts';
import type { GatewayCredentials, SignedRequest } from './signature-verifier.ts';

export interface ProxyRequest extends SignedRequest {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly requestId: string;
  readonly accessKeyId: string;
  readonly identity: GatewayCredentials;
  readonly sourceIp: string;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
}

const STAGE = 'local';
/** API Gateway gives up after this long. */
const INTEGRATION_TIMEOUT_MS = 29_000;

/** Handlers have no use for what a request was signed with. */
const WITHHELD = new Set(['authorization', 'x-amz-security-token']);

type Lists = ReadonlyMap<string, readonly string[]>;

const lastOf = (lists: Lists): Record<string, string> =>
  Object.fromEntries([...lists].map(([name, values]) => [name, values.at(-1) ?? '']));
const allOf = (lists: Lists): Record<string, string[]> =>
  Object.fromEntries([...lists].map(([name, values]) => [name, [...values]]));

export function proxyEvent(request: ProxyRequest): APIGatewayProxyEvent {
  const headers = new Map([...request.headers].filter(([name]) => !WITHHELD.has(name)));
  const hasQuery = request.query.size > 0;
  return {
    resource: request.route.resource,
    path: request.path,
    httpMethod: request.method,
    headers: lastOf(headers),
    multiValueHeaders: allOf(headers),
    queryStringParameters: hasQuery ? lastOf(request.query) : null,
    multiValueQueryStringParameters: hasQuery ? allOf(request.query) : null,
    pathParameters: { ...request.params },
    stageVariables: null,
    body: request.body.length === 0 ? null : request.body.toString('base64'),
    isBase64Encoded: request.body.length > 0,
    requestContext: requestContext(request),
  };
}

function requestContext(request: ProxyRequest): APIGatewayProxyEvent['requestContext'] {
  const { identity } = request;
  return {
    accountId: identity.accountId,
    apiId: STAGE,
    authorizer: null,
    protocol: 'HTTP/1.1',
    httpMethod: request.method,
    path: request.path,
    stage: STAGE,
    requestId: request.requestId,
    requestTimeEpoch: request.receivedAt,
    resourceId: request.route.operation,
    resourcePath: request.route.resource,
    identity: {
      ...NO_IDENTITY,
      accessKey: request.accessKeyId,
      accountId: identity.accountId,
      caller: `${identity.principalId}:${identity.sessionName}`,
      user: `${identity.principalId}:${identity.sessionName}`,
      userArn: identity.userArn,
      sourceIp: request.sourceIp,
      userAgent: request.headers.get('user-agent')?.at(-1) ?? null,
    },
  };
}

const NO_IDENTITY = {
  apiKey: null,
  apiKeyId: null,
  clientCert: null,
  cognitoAuthenticationProvider: null,
  cognitoAuthenticationType: null,
  cognitoIdentityId: null,
  cognitoIdentityPoolId: null,
  principalOrgId: null,
} as const;

export function proxyContext(request: ProxyRequest, clientGone: AbortSignal, now: () => number): ApiContext {
  return {
    functionName: request.route.function,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:local:${request.identity.accountId}:function:${request.route.function}`,
    memoryLimitInMB: '0',
    awsRequestId: request.requestId,
    logGroupName: STAGE,
    logStreamName: STAGE,
    callbackWaitsForEmptyEventLoop: false,
    getRemainingTimeInMillis: () => request.receivedAt + INTEGRATION_TIMEOUT_MS - now(),
    done: () => undefined,
    fail: () => undefined,
    succeed: () => undefined,
    clientGone,
  };
}
