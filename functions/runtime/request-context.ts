/** First in the chain: reads the event, finds the route, opens the request's log context. */
import { httpEventSchema } from '../../shared/contracts/http-event.ts';
import { ROUTES, type Route } from '../../shared/contracts/routes.ts';
import { CognitionError } from '../../shared/domain/cognition-error.ts';
import type { ApiMiddleware } from './api-call.ts';
import { requestLogger } from './request-logger.ts';
import { services } from './services.ts';

const routes: ReadonlyMap<string, Route> = new Map(
  ROUTES.map((route) => [`${route.method} ${route.resource}`, route]),
);

export const requestContext: ApiMiddleware = {
  before: ({ event, context }) => {
    const http = httpEventSchema.parse(event);
    const route = routes.get(`${http.httpMethod} ${http.resource}`);
    if (route === undefined) throw new CognitionError('not_found', 'the API has no such resource');
    const logger = requestLogger(services().logger, {
      request_id: http.requestContext.requestId,
      route: `${route.method} ${route.resource}`,
    });
    context.api = { http, route, logger };
  },
};
