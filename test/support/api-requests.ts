/** Events as API Gateway makes them, for handlers called without a gateway. */
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { handler as agents } from '../../functions/api/agents.ts';
import { handler as artifacts } from '../../functions/api/artifacts.ts';
import { handler as runs } from '../../functions/api/runs.ts';
import { handler as skillValidations } from '../../functions/api/skill-validations.ts';
import { handler as skills } from '../../functions/api/skills.ts';
import type { ApiHandler } from '../../functions/runtime/api-call.ts';
import { type ApiFunction, ROUTES } from '../../shared/contracts/routes.ts';
import { encodeScopeRef } from '../../shared/domain/scope.ts';
import { ACCOUNT, ROLE, SCOPE } from './api-fakes.ts';

export const HANDLERS: Readonly<Record<ApiFunction, ApiHandler>> = {
  skills,
  'skill-validations': skillValidations,
  agents,
  runs,
  artifacts,
};

export interface RequestParts {
  readonly ref?: string;
  readonly params?: Record<string, string>;
  readonly query?: Record<string, string | string[]>;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string | Uint8Array;
  readonly json?: unknown;
  readonly identity?: { accountId: string | null; caller: string | null };
}

const lists = (record: Record<string, string | string[]> = {}): Record<string, string[]> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, [value].flat()]));
const last = (record: Record<string, string[]>): Record<string, string> =>
  Object.fromEntries(Object.entries(record).map(([name, values]) => [name, values.at(-1) ?? '']));

export function apiEvent(operation: string, parts: RequestParts = {}): APIGatewayProxyEvent {
  const route = ROUTES.find((candidate) => candidate.operation === operation);
  if (route === undefined) throw new Error(`no operation ${operation}`);
  const bytes = Buffer.from(parts.json === undefined ? (parts.body ?? '') : JSON.stringify(parts.json));
  const headers = lists(parts.headers);
  const query = lists(parts.query);
  return {
    resource: route.resource,
    path: '/',
    httpMethod: route.method,
    headers: last(headers),
    multiValueHeaders: headers,
    queryStringParameters: last(query),
    multiValueQueryStringParameters: query,
    pathParameters: { scopeRef: parts.ref ?? encodeScopeRef(SCOPE), ...parts.params },
    stageVariables: null,
    body: bytes.length === 0 ? null : bytes.toString('base64'),
    isBase64Encoded: bytes.length > 0,
    requestContext: {
      requestId: 'req-1',
      identity: parts.identity ?? { accountId: ACCOUNT, caller: `${ROLE}:some-session` },
    } as APIGatewayProxyEvent['requestContext'],
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly text: string;
  readonly bytes: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly json: any;
}

/** Calls the handler that AWS runs, middleware included. */
export async function call(
  operation: string,
  parts: RequestParts = {},
  context: object = {},
): Promise<Answer> {
  const route = ROUTES.find((candidate) => candidate.operation === operation);
  if (route === undefined) throw new Error(`no operation ${operation}`);
  const result = await HANDLERS[route.function](apiEvent(operation, parts), {
    awsRequestId: 'lambda-1',
    ...context,
  } as Context);
  const bytes = Buffer.from(result.body, result.isBase64Encoded === true ? 'base64' : 'utf8');
  const type = String(result.headers?.['content-type'] ?? '');
  return {
    status: result.statusCode,
    headers: result.headers ?? {},
    bytes,
    text: bytes.toString('utf8'),
    json: type.includes('json') ? JSON.parse(bytes.toString('utf8')) : undefined,
  };
}
