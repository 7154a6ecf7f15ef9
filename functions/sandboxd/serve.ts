/** Where calls come in. */
import { createServer } from 'node:http';
import { Socket } from 'node:net';
import type { Transport } from './daemon-config.ts';
import type { createRequestHandler, DaemonRequest } from './request-handler.ts';

type Handler = ReturnType<typeof createRequestHandler>;

/** Large enough that a package never waits for a window update. */
const WINDOW_BYTES = 24 * 1024 * 1024;
/** Callers keep connections between the calls of a run. */
const KEEP_ALIVE_MS = 75_000;

/** @param onGone called when a transport that cannot come back is gone. */
export async function serve(transport: Transport, handler: Handler, onGone: () => void): Promise<void> {
  if (transport.kind === 'channel') return await serveChannel(transport.fd, handler, onGone);
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0, noDelay: true }, handler);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(transport.kind === 'inherited' ? { fd: transport.fd } : { port: transport.port }, resolve);
  });
}

/** Loaded on demand: HTTP/2 costs a start more than all the rest of the daemon. */
async function serveChannel(fd: number, handler: Handler, onGone: () => void): Promise<void> {
  const { createServer: createHttp2Server } = await import('node:http2');
  const server = createHttp2Server({
    settings: { initialWindowSize: WINDOW_BYTES, maxFrameSize: 256 * 1024 },
  });
  server.on('session', (session) => {
    session.setLocalWindowSize(WINDOW_BYTES);
    session.once('close', onGone);
  });
  server.on('request', (request: DaemonRequest, response) => handler(request, response));
  server.emit('connection', new Socket({ fd, readable: true, writable: true }));
}
