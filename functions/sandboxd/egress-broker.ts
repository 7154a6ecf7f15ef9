/**
 * The way out of a sandbox: HTTP on a Unix socket, `curl --unix-socket $COGNITION_EGRESS_SOCKET http://<alias>/...`.
 * Without a grant every request is refused in a form that programs can read, and remembered for the run's events.
 */

import { chmodSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { nameSchema } from '../../shared/contracts/names.ts';

/** Attempts kept for events; more are only counted. */
const ATTEMPTS_KEPT = 64;
const CONNECTIONS = 16;
const REQUEST_MS = 10_000;

export interface EgressAttempts {
  /** Oldest first. */
  kept(): readonly { readonly alias: string; readonly at: string }[];
  total(): number;
}

export interface EgressBroker extends EgressAttempts {
  /** @param path of the socket; every user of the sandbox may connect. */
  listen(server: Server, path: string): Promise<void>;
  /** Grants of a profile's aliases will be looked up here; today there are none. */
  handle(request: IncomingMessage, response: ServerResponse): void;
}

export function createEgressBroker(now: () => number): EgressBroker {
  const kept: { alias: string; at: string }[] = [];
  let total = 0;
  return {
    kept: () => kept,
    total: () => total,
    handle: (request, response) => {
      const alias = aliasOf(request);
      total += 1;
      if (kept.length < ATTEMPTS_KEPT) kept.push({ alias, at: new Date(now()).toISOString() });
      refuse(response, alias);
    },
    listen: (server, path) => {
      server.maxConnections = CONNECTIONS;
      server.requestTimeout = REQUEST_MS;
      server.headersTimeout = REQUEST_MS;
      return new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(path, () => {
          chmodSync(path, 0o666);
          resolve();
        });
      });
    },
  };
}

/** The host of the request, which is text of a hostile program: anything but a name is `invalid`. */
function aliasOf(request: IncomingMessage): string {
  const host = (request.headers.host ?? '').replace(/:\d{1,5}$/, '');
  return nameSchema.safeParse(host).success ? host : 'invalid';
}

function refuse(response: ServerResponse, alias: string): void {
  const message =
    alias === 'invalid'
      ? 'the host of the request is no egress alias; use http://<alias>/...'
      : `the sandbox profile of this run grants no egress to ${alias}`;
  const body = JSON.stringify({ code: 'egress_denied', alias, message });
  response.writeHead(403, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  });
  response.end(body);
}
