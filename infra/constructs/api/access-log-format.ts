import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import { DEPLOYMENT_DIMENSION } from '../../../shared/contracts/metric-names.ts';

/**
 * One JSON line a request. The route is the template: a path holds the scope, and API Gateway's error messages hold the
 * path, so neither is written. Everything is text, because API Gateway writes `-` for what there is not.
 */
export const accessLogFormat = (deployment: string): apigateway.AccessLogFormat =>
  apigateway.AccessLogFormat.custom(
    JSON.stringify({
      // A dimension of the metrics that are made from the log.
      [DEPLOYMENT_DIMENSION]: deployment,
      request_id: '$context.requestId',
      route: '$context.httpMethod $context.resourcePath',
      method: '$context.httpMethod',
      status: '$context.status',
      latency_ms: '$context.responseLatency',
      response_bytes: '$context.responseLength',
      integration_status: '$context.integration.status',
      integration_latency_ms: '$context.integration.latency',
      // The kind of API Gateway's own refusals, such as THROTTLED.
      error: '$context.error.responseType',
    }),
  );
