/** Every error of the chain becomes a problem answer and one log line without anything of the request in it. */
import type { ApiContext, ApiMiddleware } from './api-call.ts';
import { problemOf } from './problem.ts';
import { errorFields } from './request-logger.ts';
import { services } from './services.ts';

export const problemAnswers: ApiMiddleware = {
  onError: (request) => {
    const { context, error } = request;
    const answer = problemOf(error, requestIdOf(context));
    const logger = context.api?.logger ?? services().logger;
    const fields = { code: answer.problem.code, status: answer.status };
    if (answer.problem.code === 'digest_mismatch') services().metrics.add({ name: 'DigestFailures' });
    if (answer.status >= 500) {
      logger.error('request failed', {
        ...fields,
        ...errorFields(error, context.api?.caller?.secrets ?? []),
      });
    } else {
      logger.info('request refused', fields);
    }
    request.response = {
      statusCode: answer.status,
      headers: { ...answer.headers },
      body: JSON.stringify(answer.problem),
    };
  },
};

const requestIdOf = (context: ApiContext): string =>
  context.api?.http.requestContext.requestId ?? context.awsRequestId;
