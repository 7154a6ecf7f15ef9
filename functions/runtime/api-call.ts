/** What one request gathers on its way through the middleware chain. */
import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import type { HttpEvent } from '../../shared/contracts/http-event.ts';
import type { Route } from '../../shared/contracts/routes.ts';
import type { Logger } from '../../shared/ports/logger.ts';

export type ApiResult = APIGatewayProxyResult;

export interface Caller {
  readonly fingerprint: string;
  /** Account id and role unique id, never a session name. */
  readonly principal: string;
  /** What a log line of this request must not repeat: the scope's values and its ref. */
  readonly secrets: readonly string[];
}

export interface ApiCall {
  readonly http: HttpEvent;
  readonly route: Route;
  readonly logger: Logger;
  /** Set once the principal is known to be bound to the scope; no middleware after it runs without. */
  readonly caller?: Caller;
  /** Set once it is inflated. */
  readonly body?: Uint8Array;
}

/** `clientGone` comes from the standalone gateway alone: API Gateway never tells that a client has left. */
export type ApiContext = Context & { api?: ApiCall; clientGone?: AbortSignal };

export type ApiMiddleware = MiddlewareObj<APIGatewayProxyEvent, ApiResult, Error, ApiContext>;

/** What is called by AWS or by the standalone gateway. */
export type ApiHandler = (event: APIGatewayProxyEvent, context: ApiContext) => Promise<ApiResult>;
