/** Where calls come in: HTTP/1.1 on the production port, or on a listening socket that was handed down. */
import { createServer } from 'node:http';
import type { Transport } from './daemon-config.ts';
import type { createRequestHandler } from './request-handler.ts';

/** Callers keep connections between the calls of a run. */
const KEEP_ALIVE_MS = 75_000;

export async function serve(
  transport: Transport,
  handler: ReturnType<typeof createRequestHandler>,
): Promise<void> {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0, noDelay: true }, handler);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(transport, resolve);
  });
}
