import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { Principal } from '../../../shared/contracts/http-event.ts';
import type { ApiHandler } from '../api-call.ts';
import type { FunctionPorts } from './function-ports.ts';
import { type FunctionDefinition, openFunction } from './open-function.ts';
import { observed } from './start-function.ts';

/** What Lambda calls for API Gateway. @throws Error as openFunction does. */
export function startApiFunction(definition: FunctionDefinition, handler: ApiHandler): ApiHandler {
  const ports = openFunction(definition);
  return observed(ports, answered(ports, handler));
}

/** One line for each answer joins the request's id with the scope's fingerprint; refusals have theirs already. */
function answered({ clock, caller }: FunctionPorts, handler: ApiHandler): ApiHandler {
  return async (event, context) => {
    const began = clock.now();
    const answer = await handler(withCaller(event, caller), context);
    const { statusCode: status } = answer;
    if (status < 400) context.api?.logger.info('request answered', { status, ms: clock.now() - began });
    return answer;
  };
}

function withCaller(event: APIGatewayProxyEvent, caller: Principal | undefined): APIGatewayProxyEvent {
  const { requestContext } = event;
  if (caller === undefined || requestContext.identity.caller) return event;
  const identity = { ...requestContext.identity, accountId: caller.account_id, caller: caller.role_id };
  return { ...event, requestContext: { ...requestContext, identity } };
}
