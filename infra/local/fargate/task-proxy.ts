/**
 * The network in front of a task: HTTP/1.1 from its listener into the HTTP/2 channel of its daemon, bodies
 * streamed both ways. It adds no answer of its own: when the daemon is gone the connection is reset, as with
 * a real task.
 */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders as Http2Headers,
  type OutgoingHttpHeaders as Http2OutgoingHeaders,
} from 'node:http2';
import type { Socket } from 'node:net';

const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'expect',
  'host',
]);
/** Longer than any caller keeps a connection, so that it is always the caller who closes an idle one. */
const KEEP_ALIVE_MS = 75_000;

export interface TaskProxy {
  /** Serves requests of this connection from this session. */
  serve(socket: Socket, session: ClientHttp2Session): void;
}

/** One HTTP server parses for all tasks: a task costs a listening socket and nothing else. */
export function createTaskProxy(): TaskProxy {
  const sessions = new WeakMap<Socket, ClientHttp2Session>();
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    const session = sessions.get(request.socket);
    if (session === undefined || session.closed || session.destroyed) request.socket.destroy();
    else forward(session, request, response);
  });
  return {
    serve: (socket, session) => {
      sessions.set(socket, session);
      server.emit('connection', socket);
    },
  };
}

function forward(session: ClientHttp2Session, request: IncomingMessage, response: ServerResponse): void {
  let stream: ClientHttp2Stream;
  try {
    stream = session.request(requestHeaders(request), { endStream: !hasBody(request.headers) });
  } catch {
    request.socket.destroy();
    return;
  }
  if (hasBody(request.headers)) request.pipe(stream);
  stream.once('response', (headers) => answer(stream, headers, response));
  stream.on('error', () => response.destroy());
  stream.once('close', () => {
    if (!response.writableEnded) response.destroy();
    // What the daemon did not want to read is read here, or the connection could not be used again.
    request.unpipe(stream);
    request.resume();
  });
  response.once('close', () => {
    if (!stream.closed) stream.close(constants.NGHTTP2_CANCEL);
  });
}

/** An end that is no end (a reset, or too few bytes) must not look like one to the caller. */
function answer(stream: ClientHttp2Stream, headers: Http2Headers, response: ServerResponse): void {
  const declared = headers['content-length'];
  let received = 0;
  response.writeHead(Number(headers[':status']), responseHeaders(headers));
  stream.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (!response.write(chunk)) stream.pause();
  });
  response.on('drain', () => stream.resume());
  stream.once('end', () => {
    const whole = declared === undefined || !hasAnswerBody(response) || Number(declared) === received;
    if (stream.rstCode === constants.NGHTTP2_NO_ERROR && whole) response.end();
    else response.destroy();
  });
}

const hasAnswerBody = (response: ServerResponse): boolean =>
  response.req.method !== 'HEAD' && response.statusCode !== 204 && response.statusCode !== 304;

const hasBody = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

function requestHeaders(request: IncomingMessage): Http2OutgoingHeaders {
  const forwarded: Http2OutgoingHeaders = {
    ':method': request.method ?? 'GET',
    ':path': request.url ?? '/',
    ':authority': request.headers.host ?? 'sandbox',
  };
  const named = (request.headers.connection ?? '').toLowerCase().split(',');
  const dropped = new Set(named.map((name) => name.trim()));
  for (const [name, value] of Object.entries(request.headers)) {
    if (!HOP_BY_HOP.has(name) && !dropped.has(name)) forwarded[name] = value;
  }
  return forwarded;
}

function responseHeaders(headers: Http2Headers): OutgoingHttpHeaders {
  const forwarded: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(headers)) {
    if (!name.startsWith(':') && !HOP_BY_HOP.has(name)) forwarded[name] = value;
  }
  return forwarded;
}
