/**
 * One request of the API: signed, compressed where that pays, with a cap on the answer, without redirects, and
 * sent again only where that cannot do the work twice.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import pRetry from 'p-retry';
import { LIMITS } from '../../shared/contracts/limits.ts';
import { ApiError, TransportError } from './client-errors.ts';
import { connectionError } from './connection-error.ts';
import { readCapped } from './read-capped.ts';
import { readProblem } from './read-problem.ts';
import { type Credentials, signRequest } from './sign-request.ts';

/** Above this, gzip saves more on the wire than it costs. */
const GZIP_FROM_BYTES = 64 * 1024;
/** An artifact of the largest size, and room for the frame around it. */
export const ANSWER_BYTES_MAX = LIMITS.outputBytes + 1024 * 1024;
const REQUEST_TIMEOUT_MS = 60_000;
const RETRY_AFTER_MAX_SECONDS = 30;

export interface TransportOptions {
  /** Origin of the API, and the stage's path on AWS. */
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: () => Promise<Credentials>;
  readonly fetch: typeof fetch;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** After the first attempt. */
  readonly retries: number;
  readonly userAgent: string;
}

export interface Call {
  readonly method: string;
  /** Below the endpoint, with its query. */
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Sending it twice does the work once: it may be sent again when the connection breaks. */
  readonly repeatable: boolean;
  readonly signal?: AbortSignal | undefined;
  /** On top of the time a request may take. */
  readonly waitMs?: number;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
}

const gzipAsync = promisify(gzip);

async function encodeBody(call: Call): Promise<{ body?: Uint8Array; headers: Record<string, string> }> {
  if (call.body === undefined) return { headers: {} };
  const compress = call.body.length > GZIP_FROM_BYTES;
  const body = compress ? await gzipAsync(call.body) : call.body;
  if (body.length > LIMITS.requestBodyBytes) {
    throw new TransportError(
      'refused_request',
      `the request is ${body.length} bytes${compress ? ' after gzip' : ''}; the API takes ${LIMITS.requestBodyBytes}: send less at once`,
    );
  }
  return { body, headers: compress ? { 'content-encoding': 'gzip' } : {} };
}

const mayRetry = (error: Error, call: Call): boolean => {
  if (error instanceof ApiError) return error.status === 429 || error.status === 503;
  return error instanceof TransportError && error.retryable && call.repeatable;
};

const retryAfterMs = (error: Error): number =>
  error instanceof ApiError ? Math.min(error.retryAfterSeconds ?? 0, RETRY_AFTER_MAX_SECONDS) * 1000 : 0;

/** @throws ApiError for an error answer, TransportError for the rest */
export async function send(options: TransportOptions, call: Call): Promise<Answer> {
  const { body, headers } = await encodeBody(call);
  const attempt = (): Promise<Answer> => sendOnce(options, call, body, headers);
  return pRetry(attempt, {
    retries: options.retries,
    minTimeout: 100,
    maxTimeout: 5_000,
    factor: 3,
    randomize: true,
    ...(call.signal === undefined ? {} : { signal: call.signal }),
    shouldRetry: async ({ error, retriesLeft }) => {
      if (retriesLeft === 0 || !mayRetry(error, call)) return false;
      await options.sleep(retryAfterMs(error));
      return true;
    },
  });
}

async function sendOnce(
  options: TransportOptions,
  call: Call,
  body: Uint8Array | undefined,
  encoding: Readonly<Record<string, string>>,
): Promise<Answer> {
  const url = new URL(`${options.endpoint.replace(/\/+$/, '')}${call.target}`);
  const plain = { 'user-agent': options.userAgent, ...call.headers, ...encoding };
  const headers = await signRequest(
    { method: call.method, url, headers: plain, body },
    { region: options.region, credentials: await options.credentials(), now: options.now() },
  );
  const timeout = AbortSignal.timeout(REQUEST_TIMEOUT_MS + (call.waitMs ?? 0));
  const signal = call.signal === undefined ? timeout : AbortSignal.any([call.signal, timeout]);
  const answer = await exchange(options.fetch, url, {
    method: call.method,
    headers: { ...headers, 'accept-encoding': 'identity' },
    redirect: 'manual',
    signal,
    ...(body === undefined ? {} : { body: new Uint8Array(body) }),
  }).catch((error: unknown) => {
    call.signal?.throwIfAborted();
    throw error;
  });
  if (answer.status >= 200 && answer.status < 300) return answer;
  throw readProblem(answer, url.origin);
}

/** Sends, and reads the whole answer up to the cap. */
export async function exchange(fetchFn: typeof fetch, url: URL, init: RequestInit): Promise<Answer> {
  try {
    const response = await fetchFn(url, init);
    return {
      status: response.status,
      headers: response.headers,
      bytes: await readCapped(response, ANSWER_BYTES_MAX),
    };
  } catch (error) {
    throw error instanceof TransportError ? error : connectionError(error, url);
  }
}
