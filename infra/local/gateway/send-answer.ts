import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiResult } from '../../../functions/runtime/api-call.ts';
import { type ProblemAnswer, problemOf } from '../../../functions/runtime/problem.ts';
import { drain } from './request-body.ts';

/** Statuses whose answers have no body, nor a length. */
const BODILESS = new Set([204, 304]);

export function sendResult(response: ServerResponse, result: ApiResult, requestId: string): void {
  const body = Buffer.from(result.body, result.isBase64Encoded === true ? 'base64' : 'utf8');
  const headers: Record<string, string | number | boolean> = {
    ...result.headers,
    'x-amzn-requestid': requestId,
  };
  if (!BODILESS.has(result.statusCode)) headers['content-length'] = body.length;
  response.writeHead(result.statusCode, toOutgoing(headers));
  response.end(BODILESS.has(result.statusCode) ? undefined : body);
}

const toOutgoing = (headers: Readonly<Record<string, string | number | boolean>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

/**
 * Answers with a problem. What the client still sends is read and dropped up to a bound, because closing on it
 * would reset the connection and the answer would be lost.
 * @param drainFirst false when the client waits for 100 Continue and has sent nothing.
 */
export async function sendProblem(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  options: { requestId: string; headers?: Readonly<Record<string, string>>; drainFirst: boolean },
): Promise<ProblemAnswer> {
  const answer = problemOf(error, options.requestId);
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return answer;
  }
  const body = Buffer.from(JSON.stringify(answer.problem));
  response.writeHead(answer.status, {
    ...answer.headers,
    ...options.headers,
    'x-content-type-options': 'nosniff',
    'x-amzn-requestid': options.requestId,
    'content-length': String(body.length),
    ...(request.complete ? {} : { connection: 'close' }),
  });
  if (request.method !== 'HEAD') response.write(body);
  if (options.drainFirst) await drain(request);
  response.end();
  return answer;
}
