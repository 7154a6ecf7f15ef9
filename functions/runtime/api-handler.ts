/** The one middleware chain of the API. What it returns is what AWS runs and what the standalone gateway calls. */
import middy from '@middy/core';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type ApiFunction, ROUTES } from '../../shared/contracts/routes.ts';
import type { ApiContext, ApiHandler, ApiResult } from './api-call.ts';
import { boundCaller } from './bound-caller.ts';
import { finishedAnswer } from './finished-answer.ts';
import { inflatedBody } from './inflated-body.ts';
import type { ApiOperation } from './operation.ts';
import { problemAnswers } from './problem-answers.ts';
import { requestContext } from './request-context.ts';

export type ApiOperations = Readonly<Record<string, ApiOperation>>;

/** @param operations by their name in the route table: each of the function's, and no other. */
export function apiHandler(name: ApiFunction, operations: ApiOperations): ApiHandler {
  assertComplete(name, operations);
  const dispatch = async (_event: APIGatewayProxyEvent, context: ApiContext): Promise<ApiResult> => {
    const call = context.api;
    const run = call === undefined ? undefined : operations[call.route.operation];
    if (call === undefined || run === undefined) throw new Error('the route belongs to another function');
    return run(call, context);
  };
  return middy<APIGatewayProxyEvent, ApiResult, Error, ApiContext>(dispatch, { timeoutEarlyInMillis: 0 })
    .use(problemAnswers)
    .use(finishedAnswer)
    .use(requestContext)
    .use(boundCaller)
    .use(inflatedBody);
}

/** A route without an operation, or the reverse, stops the function when it starts and not when it is called. */
function assertComplete(name: ApiFunction, operations: ApiOperations): void {
  const expected = ROUTES.filter((route) => route.function === name).map((route) => route.operation);
  const missing = expected.filter((operation) => operations[operation] === undefined);
  const unknown = Object.keys(operations).filter((operation) => !expected.includes(operation));
  if (missing.length + unknown.length > 0) {
    throw new Error(`${name} lacks operations [${missing}] and has some that are no routes [${unknown}]`);
  }
}
