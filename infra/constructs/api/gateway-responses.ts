import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import { ERROR_CODES, type ErrorCode } from '../../../shared/contracts/error-codes.ts';

interface Refusal {
  readonly code: ErrorCode;
  readonly detail: string;
  /** Seconds. */
  readonly retry_after?: number;
}

const UNSIGNED = 'sign the request (SigV4, service execute-api) with credentials that are still valid';

/**
 * What API Gateway answers itself, as handlers would. Nothing of the request is repeated: API Gateway's own message
 * holds the path, and with it the scope.
 */
export const REFUSALS: Readonly<Record<string, Refusal>> = {
  ACCESS_DENIED: { code: 'access_denied', detail: 'no policy of the caller allows this call' },
  API_CONFIGURATION_ERROR: { code: 'internal_error', detail: 'a fault on our side; report it' },
  BAD_REQUEST_BODY: { code: 'invalid_request', detail: 'the body cannot be read' },
  BAD_REQUEST_PARAMETERS: { code: 'invalid_request', detail: 'a parameter cannot be read' },
  DEFAULT_4XX: { code: 'invalid_request', detail: 'the request cannot be handled as it is' },
  DEFAULT_5XX: { code: 'internal_error', detail: 'a fault on our side; report it' },
  EXPIRED_TOKEN: { code: 'access_denied', detail: UNSIGNED },
  INTEGRATION_FAILURE: { code: 'unavailable', detail: 'busy for the moment; try again', retry_after: 1 },
  INTEGRATION_TIMEOUT: { code: 'unavailable', detail: 'no answer in time; try again', retry_after: 1 },
  INVALID_SIGNATURE: { code: 'access_denied', detail: 'the signature is not that of this request' },
  // API Gateway answers so to a path that it does not have, too.
  MISSING_AUTHENTICATION_TOKEN: {
    code: 'access_denied',
    detail: `the API has no such path and method, or the request has no signature: ${UNSIGNED}`,
  },
  REQUEST_TOO_LARGE: { code: 'body_too_large', detail: 'the body is over the limit of the API' },
  RESOURCE_NOT_FOUND: { code: 'not_found', detail: 'the API has no such path' },
  THROTTLED: { code: 'too_many_requests', detail: 'more requests than the API takes', retry_after: 1 },
  UNSUPPORTED_MEDIA_TYPE: { code: 'invalid_request', detail: 'the API does not take this media type' },
  WAF_FILTERED: { code: 'access_denied', detail: 'refused by the firewall in front of the API' },
};

/** Every answer that no function gives is RFC 9457 with a code of the product and the status of that code. */
export function addGatewayResponses(api: apigateway.RestApi): void {
  for (const [type, refusal] of Object.entries(REFUSALS)) {
    api.addGatewayResponse(type, {
      type: apigateway.ResponseType.of(type),
      statusCode: String(ERROR_CODES[refusal.code].status),
      responseHeaders: {
        'Content-Type': "'application/problem+json'",
        'Cache-Control': "'no-store'",
        ...(refusal.retry_after === undefined ? {} : { 'Retry-After': `'${refusal.retry_after}'` }),
      },
      templates: { 'application/json': problemTemplate(refusal) },
    });
  }
}

/** API Gateway puts the request's id in; it is the one that the access log has. */
const problemTemplate = ({ code, detail }: Refusal): string =>
  JSON.stringify({
    type: 'about:blank',
    ...ERROR_CODES[code],
    code,
    detail,
    request_id: '$context.requestId',
  });
