/**
 * A small stand-in for the API on a real port: answers as the contracts say, from what a test gives it, and
 * remembers what it was asked. It checks nothing; signatures are checked by the tests that are about them.
 */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';
import { ERROR_CODES, type ErrorCode } from '../../shared/contracts/error-codes.ts';
import { ROUTES } from '../../shared/contracts/routes.ts';

export interface FakeRequest {
  operation: string;
  params: Record<string, string>;
  query: URLSearchParams;
  method: string;
  target: string;
  headers: IncomingHttpHeaders;
  /** As sent. */
  raw: Buffer;
  /** Inflated. */
  body: Buffer;
}

export interface FakeAnswer {
  status?: number;
  headers?: Record<string, string>;
  json?: unknown;
  bytes?: Uint8Array;
  /** Break the connection instead. */
  hangUp?: boolean;
}

export type FakeHandlers = Partial<
  Record<string, (request: FakeRequest) => FakeAnswer | Promise<FakeAnswer>>
>;

export interface FakeApi {
  url: string;
  requests: FakeRequest[];
  /** Done by itself when the test ends. */
  close: () => Promise<void>;
}

export function problem(code: ErrorCode, detail: string, extra: Record<string, unknown> = {}): FakeAnswer {
  const { status, title } = ERROR_CODES[code];
  return {
    status,
    headers: { 'content-type': 'application/problem+json' },
    json: { type: 'about:blank', title, status, detail, code, ...extra },
  };
}

const matchers = ROUTES.map((route) => ({
  route,
  pattern: new RegExp(`^${route.resource.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
}));

export async function startFakeApi(handlers: FakeHandlers): Promise<FakeApi> {
  const requests: FakeRequest[] = [];
  const server = createServer(async (request, response) => {
    const raw = await buffer(request);
    const url = new URL(request.url ?? '/', 'http://fake');
    const found = matchers.find(
      ({ route, pattern }) => route.method === request.method && pattern.test(url.pathname),
    );
    const seen: FakeRequest = {
      operation: found?.route.operation ?? `${request.method} ${url.pathname}`,
      params: { ...found?.pattern.exec(url.pathname)?.groups },
      query: url.searchParams,
      method: request.method ?? '',
      target: request.url ?? '',
      headers: request.headers,
      raw,
      body: request.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw,
    };
    requests.push(seen);
    const answer = (await handlers[seen.operation]?.(seen)) ?? problem('not_found', 'there is no such thing');
    if (answer.hangUp) {
      request.socket.destroy();
      return;
    }
    const body = answer.bytes ?? (answer.json === undefined ? '' : JSON.stringify(answer.json));
    response.writeHead(answer.status ?? 200, {
      'content-type': answer.bytes === undefined ? 'application/json' : 'application/octet-stream',
      ...answer.headers,
    });
    response.end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  };
  onTestFinished(close);
  return { url: `http://127.0.0.1:${address.port}`, requests, close };
}
