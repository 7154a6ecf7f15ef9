/**
 * The HTTP front of the standalone server: what API Gateway with IAM authorization does on AWS, on node:http.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ApiHandler } from '../../../functions/runtime/api-call.ts';
import { errorFields } from '../../../functions/runtime/request-logger.ts';
import type { ApiFunction } from '../../../shared/contracts/routes.ts';
import { CognitionError } from '../../../shared/domain/cognition-error.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import type { Logger } from '../../../shared/ports/logger.ts';
import { DOWNLOADS_PREFIX, type Downloads, sendDownload } from './downloads.ts';
import { matchRoute } from './match-route.ts';
import { proxyContext, proxyEvent } from './proxy-event.ts';
import { type BodyReader, bodyReader, ClientGone, checkAnnouncedLength } from './request-body.ts';
import { parseTarget } from './request-target.ts';
import { sendProblem, sendResult } from './send-answer.ts';
import { type GatewayCredentials, type SignatureVerifier, signatureVerifier } from './signature-verifier.ts';

export interface GatewayOptions {
  readonly handlers: Readonly<Record<ApiFunction, ApiHandler>>;
  /** By access key id. */
  readonly credentials: (accessKeyId: string) => GatewayCredentials | undefined;
  readonly region: string;
  /** Default `execute-api`. */
  readonly service?: string;
  /** Without it every download URL is not found. */
  readonly downloads?: Downloads;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of bodies that have not come whole yet, all together; see `bodyReader` for the default. */
  readonly unfinishedBytes?: number;
  /** A line for each request with id, route template, status and latency. Default false. */
  readonly accessLog?: boolean;
}

/** Requests that one connection may have under way at once; a pipelining client beyond it is cut off. */
const PIPELINED = 32;

/** What all requests share. */
interface Gate {
  readonly verifier: SignatureVerifier;
  readonly readBody: BodyReader;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly startedAt: number;
  /** The client waits for 100 Continue. */
  awaitsContinue: boolean;
  route: string;
}

/** A server that is not listening yet. */
export function createGateway(options: GatewayOptions): Server {
  const gate: Gate = {
    verifier: signatureVerifier({ service: 'execute-api', ...options }),
    readBody: bodyReader(options.unfinishedBytes),
  };
  const underWay = new WeakMap<Duplex, number>();
  const accept = (request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean): void => {
    const { socket } = request;
    const count = (underWay.get(socket) ?? 0) + 1;
    if (count > PIPELINED) {
      socket.destroy();
      return;
    }
    underWay.set(socket, count);
    response.once('close', () => underWay.set(socket, (underWay.get(socket) ?? 1) - 1));
    const startedAt = options.clock.now();
    const exchange: Exchange = {
      request,
      response,
      requestId: randomUUID(),
      startedAt,
      awaitsContinue,
      route: 'none',
    };
    void answer(options, gate, exchange);
  };
  const server = createServer({
    // A slow client gets this long for the headers, and for the whole request.
    headersTimeout: 10_000,
    requestTimeout: 60_000,
    connectionsCheckingInterval: 2_000,
    keepAliveTimeout: 75_000,
    maxHeaderSize: 16 * 1024,
    noDelay: true,
  });
  server.maxConnections = 4_096;
  server.on('request', (request, response) => accept(request, response, false));
  server.on('checkContinue', (request, response) => accept(request, response, true));
  server.on('clientError', refuseUnparsable);
  return server;
}

async function answer(options: GatewayOptions, gate: Gate, exchange: Exchange): Promise<void> {
  const { request, response, requestId } = exchange;
  try {
    await route(options, gate, exchange);
  } catch (error) {
    if (error instanceof ClientGone) return;
    const headers = error instanceof NoSuchMethod ? { allow: error.allow.join(', ') } : {};
    const refusal = error instanceof NoSuchMethod ? error.refusal : error;
    const drainFirst = !exchange.awaitsContinue;
    const sent = await sendProblem(request, response, refusal, { requestId, headers, drainFirst });
    if (sent.status >= 500) {
      options.logger.error('gateway failed', {
        request_id: requestId,
        route: exchange.route,
        ...errorFields(error, []),
      });
    }
  } finally {
    if (options.accessLog === true) logAccess(options, exchange);
  }
}

function logAccess(
  { logger, clock }: GatewayOptions,
  { requestId, route, response, startedAt }: Exchange,
): void {
  const latency = clock.now() - startedAt;
  logger.info('access', { request_id: requestId, route, status: response.statusCode, latency_ms: latency });
}

class NoSuchMethod extends Error {
  readonly allow: readonly string[];
  readonly refusal: CognitionError;

  constructor(allow: readonly string[]) {
    const message = `this resource takes ${allow.join(', ')}`;
    super(message);
    this.allow = allow;
    this.refusal = new CognitionError('method_not_allowed', message);
  }
}

async function route(options: GatewayOptions, gate: Gate, exchange: Exchange): Promise<void> {
  const { request, response } = exchange;
  const method = request.method ?? '';
  const { path, query } = parseTarget(request.url ?? '');
  const read = method === 'GET' || method === 'HEAD';
  if (path === '/healthz' && read) {
    exchange.route = path;
    sendResult(response, HEALTHY, exchange.requestId);
    return;
  }
  if (path.startsWith(DOWNLOADS_PREFIX) && read) {
    exchange.route = DOWNLOADS_PREFIX;
    await sendDownload(options.downloads, request, response);
    return;
  }
  const match = matchRoute(method, path);
  if (match.kind === 'no_such_path') throw new CognitionError('not_found', 'the API has no such path');
  if (match.kind === 'no_such_method') throw new NoSuchMethod(match.allow);
  exchange.route = `${match.route.method} ${match.route.resource}`;
  const signed = { method, path, query, headers: headersOf(request) };
  const claim = gate.verifier.claim(signed);
  checkAnnouncedLength(request);
  if (exchange.awaitsContinue) {
    response.writeContinue();
    exchange.awaitsContinue = false;
  }
  const body = await gate.readBody(request);
  await claim.verify(body);
  await invoke(options, exchange, { ...signed, ...match, ...claim, body });
}

const HEALTHY = {
  statusCode: 200,
  headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  body: '{"status":"ok"}',
};

async function invoke(
  options: GatewayOptions,
  { request, response, requestId, startedAt }: Exchange,
  signed: Omit<Parameters<typeof proxyEvent>[0], 'requestId' | 'sourceIp' | 'receivedAt'>,
): Promise<void> {
  const sourceIp = request.socket.remoteAddress ?? '';
  const proxied = { ...signed, requestId, sourceIp, receivedAt: startedAt };
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  const handler = options.handlers[signed.route.function];
  const result = await handler(
    proxyEvent(proxied),
    proxyContext(proxied, gone.signal, () => options.clock.now()),
  );
  if (!gone.signal.aborted) sendResult(response, result, requestId);
}

/** By lower-case name, from the raw list: node's own object drops some repeated ones. */
function headersOf(request: IncomingMessage): ReadonlyMap<string, readonly string[]> {
  const headers = new Map<string, string[]>();
  const raw = request.rawHeaders;
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase();
    const value = raw[index + 1] ?? '';
    const values = headers.get(name);
    if (values === undefined) headers.set(name, [value]);
    else values.push(value);
  }
  return headers;
}

const UNPARSABLE: ReadonlyMap<string, readonly [number, string, string]> = new Map([
  ['HPE_HEADER_OVERFLOW', [431, 'Request Header Fields Too Large', 'the headers are over 16384 bytes']],
  ['ERR_HTTP_REQUEST_TIMEOUT', [408, 'Request Timeout', 'the request took too long to arrive']],
]);

/** What is not HTTP still gets an answer that says so, where the connection can take one. */
function refuseUnparsable(error: Error & { code?: string }, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const [status, title, detail] = UNPARSABLE.get(error.code ?? '') ?? [
    400,
    'Bad Request',
    'the request is not HTTP/1.1',
  ];
  const body = JSON.stringify({ type: 'about:blank', title, status, code: 'invalid_request', detail });
  socket.end(
    `HTTP/1.1 ${status} ${title}\r\nconnection: close\r\ncontent-type: application/problem+json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
