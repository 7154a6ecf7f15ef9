/** One operation of the API: what it takes, as schemas, and a small function that calls one service. */
import * as z from 'zod';
import { LIMITS } from '../../shared/contracts/limits.ts';
import { CognitionError } from '../../shared/domain/cognition-error.ts';
import type { Preconditions } from '../../shared/services/commit-with.ts';
import type { ApiCall, ApiContext, ApiResult } from './api-call.ts';
import type { OnceRequest } from './idempotency.ts';
import { invalidRequest, singleHeader, tooLarge, validate } from './invalid-request.ts';
import { readPreconditions } from './preconditions.ts';
import { parseStrictJson } from './strict-json.ts';

export interface ApiRequest<Query, Body> extends OnceRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly preconditions: Preconditions;
  readonly accept: string | undefined;
  readonly clientGone: AbortSignal | undefined;
}

/** `package`: JSON with `files` or `content`, which may be large and whose paths and texts have rules of their own. */
export type BodyFormat = 'none' | 'json' | 'json-or-none' | 'package' | 'bytes';

export interface OperationSpec<Query, Body> {
  /** An unknown parameter is refused. */
  readonly query: z.ZodType<Query>;
  readonly format: BodyFormat;
  readonly body: z.ZodType<Body>;
  /** Default: none. */
  readonly preconditions?: readonly ('if-match' | 'if-none-match')[];
  readonly handle: (request: ApiRequest<Query, Body>) => Promise<ApiResult>;
}

export const noQuery = z.strictObject({});
/** For the spec of an operation without a body. */
export const noBody = { format: 'none', body: z.undefined() } as const;

export type ApiOperation = (call: ApiCall, context: ApiContext) => Promise<ApiResult>;

export function operation<Query, Body>(spec: OperationSpec<Query, Body>): ApiOperation {
  return async (call, context) => {
    const { http, caller, body, route } = call;
    if (caller === undefined || body === undefined) throw new Error('the chain did not run');
    const headers = http.multiValueHeaders;
    return spec.handle({
      fingerprint: caller.fingerprint,
      principal: caller.principal,
      operation: route.operation,
      params: http.pathParameters ?? {},
      query: readQuery(spec.query, http.multiValueQueryStringParameters),
      preconditions:
        route.method === 'GET'
          ? refuseIfMatch(headers)
          : readPreconditions(headers, spec.preconditions ?? []),
      idempotencyKey: singleHeader(headers, 'idempotency-key'),
      accept: singleHeader(headers, 'accept'),
      contentType: singleHeader(headers, 'content-type'),
      body: validate(spec.body, BODY_READERS[spec.format](body), 'the body'),
      bodyBytes: body,
      clientGone: context.clientGone,
    });
  };
}

/** GET takes If-None-Match, which the end of the chain answers with 304. */
function refuseIfMatch(headers: ReadonlyMap<string, readonly string[]>): Preconditions {
  if (headers.has('if-match')) throw invalidRequest('GET takes no If-Match; remove the header');
  return {};
}

function readQuery<Query>(
  schema: z.ZodType<Query>,
  parameters: ReadonlyMap<string, readonly string[]>,
): Query {
  const values: [string, string][] = [];
  for (const [name, list] of parameters) {
    const [value, ...more] = list;
    if (more.length > 0 || value === undefined || name === '__proto__') {
      throw invalidRequest(`the query parameter ${name.slice(0, 64)} must be given once or not at all`);
    }
    values.push([name, value]);
  }
  return validate(schema, Object.fromEntries(values), 'the query');
}

const BODY_READERS: Readonly<Record<BodyFormat, (bytes: Uint8Array) => unknown>> = {
  none: (bytes) => {
    if (bytes.length > 0) throw invalidRequest('this operation takes no body; send none');
    return undefined;
  },
  json: (bytes) => parseStrictJson(small(bytes)),
  'json-or-none': (bytes) => (bytes.length === 0 ? {} : parseStrictJson(small(bytes))),
  package: (bytes) => parseStrictJson(bytes, { packageMembers: true }),
  bytes: (bytes) => small(bytes),
};

/** Only packages may be larger inflated than on the wire. */
function small(bytes: Uint8Array): Uint8Array {
  if (bytes.length > LIMITS.requestBodyBytes)
    throw tooLarge('the body', LIMITS.requestBodyBytes, 'send less');
  return bytes;
}

/** A name or id in the path that could never exist is not looked up: the code is that of one that does not. */
export function existing(
  params: Readonly<Record<string, string>>,
  name: string,
  schema: z.ZodType<string>,
  what: string,
): string {
  const result = schema.safeParse(params[name]);
  if (!result.success) throw new CognitionError('not_found', `there is no such ${what} in this scope`);
  return result.data;
}
