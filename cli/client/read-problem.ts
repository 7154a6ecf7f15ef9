import * as z from 'zod';
import { problemSchema } from '../../shared/contracts/error-codes.ts';
import { ApiError, TransportError } from './client-errors.ts';
import type { Answer } from './transport.ts';

/** What API Gateway itself answers before any function has run. */
const gatewayMessageSchema = z.object({ message: z.string() });
const RETRYABLE_STATUSES = new Set([429, 502, 503, 504]);

const retryAfter = (headers: Headers): number | undefined => {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
};

/** The error of an answer that is not 2xx: the problem it carries, or what is in its place. */
export function readProblem(answer: Answer, origin: string): ApiError | TransportError {
  const problem = problemSchema.safeParse(parseQuietly(answer.bytes));
  if (problem.success) return new ApiError(problem.data, retryAfter(answer.headers));
  const gateway = gatewayMessageSchema.safeParse(parseQuietly(answer.bytes));
  const said = gateway.success ? `says \`${gateway.data.message}\`` : 'gives no reason';
  return new TransportError(
    'unexpected_answer',
    `${origin} answered ${answer.status} and ${said}: check the endpoint, its stage, and your right to call it`,
    { retryable: RETRYABLE_STATUSES.has(answer.status) },
  );
}

function parseQuietly(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
