/** Last in the chain: conditional GET, headers of every answer, and the limit of a response body. */
import { LIMITS } from '../../shared/contracts/limits.ts';
import { sizeText } from '../../shared/contracts/size-text.ts';
import { CognitionError } from '../../shared/domain/cognition-error.ts';
import type { ApiMiddleware } from './api-call.ts';
import { singleHeader } from './invalid-request.ts';
import { holdsAlready } from './preconditions.ts';

export const finishedAnswer: ApiMiddleware = {
  after: (request) => {
    const answer = request.response;
    const http = request.context.api?.http;
    if (answer === null || answer === undefined || http === undefined) return;
    const size = Buffer.byteLength(answer.body, answer.isBase64Encoded === true ? 'base64' : 'utf8');
    if (size > LIMITS.responseBodyBytes) {
      throw new CognitionError(
        'body_too_large',
        `the answer would have ${size} bytes, over the limit of ${sizeText(LIMITS.responseBodyBytes)}; ask for less, e.g. with limit= or path=`,
      );
    }
    const etag = answer.headers?.etag;
    const held =
      http.httpMethod === 'GET' ? singleHeader(http.multiValueHeaders, 'if-none-match') : undefined;
    const common = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
    request.response =
      typeof etag === 'string' && holdsAlready(held, etag)
        ? { statusCode: 304, headers: { ...common, etag }, body: '' }
        : { ...answer, headers: { ...answer.headers, ...common } };
  },
};
