/**
 * Stands between the functions and the emulator: passes calls on, counts them, and treats some as a network or a busy
 * service would. Each function has an endpoint of its own, a port without a path, so that URLs which a function signs
 * are good. What is to go wrong is set at one more, because tests run in other processes.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import * as z from 'zod';
import { faultsSchema, type ParsedFaults, type SeenCall, type Service } from './fault-rules.ts';
import { serveCall, toCall } from './serve-call.ts';
import { createTransactionConflicts } from './transaction-conflicts.ts';

export interface FaultProxy {
  /** For tests. */
  readonly control: string;
  /** Of a function, for every service. */
  endpointOf(name: string): Promise<string>;
  close(): Promise<void>;
}

export interface FaultProxyOptions {
  /** Where calls of a service go. */
  readonly upstream: (service: Service) => string;
  /** What it listens on. Default: 127.0.0.1. */
  readonly host?: string;
}

type Handle = (incoming: IncomingMessage, response: ServerResponse) => Promise<void>;

export async function startFaultProxy({
  upstream,
  host = '127.0.0.1',
}: FaultProxyOptions): Promise<FaultProxy> {
  const state: ProxyState = { faults: new Map(), calls: [], sequence: 0 };
  const conflicts = createTransactionConflicts();
  const servers: Server[] = [];
  const serve = async (handle: Handle): Promise<string> => {
    const server = createServer({ keepAliveTimeout: 75_000, requestTimeout: 0 }, (incoming, response) => {
      handle(incoming, response).catch((error: unknown) => {
        if (!response.headersSent) response.writeHead(502);
        response.end(String(error));
      });
    });
    servers.push(server);
    return `http://${host}:${await listen(server, host)}`;
  };
  const proxied = (name: string): Handle => {
    return async (incoming, response) => {
      state.sequence += 1;
      const sequence = state.sequence;
      const call = toCall(name, incoming, await buffer(incoming));
      const began = performance.now();
      const { answer, ...facts } = await serveCall(call, {
        rules: [...state.faults].flatMap(([id, { rules }]) => rules.map((rule) => [id, rule] as const)),
        upstream: upstream(call.service),
        conflicts,
      });
      state.calls.push({
        sequence,
        function: name,
        service: call.service,
        operation: call.operation,
        status: answer?.status ?? 0,
        ms: performance.now() - began,
        request_bytes: call.body.length,
        response_bytes: answer?.body.length ?? 0,
        ...facts,
      });
      if (answer === undefined) response.destroy();
      else response.writeHead(answer.status, answer.headers).end(answer.body);
    };
  };
  return {
    control: await serve(async (incoming, response) => {
      const answer = control(state, incoming.method ?? '', incoming.url ?? '/', await buffer(incoming));
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    }),
    endpointOf: (name) => serve(proxied(name)),
    close: async () => {
      for (const server of servers) server.closeAllConnections();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

function listen(server: Server, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, () => {
      const address = server.address();
      if (typeof address === 'object' && address !== null) resolve(address.port);
    });
  });
}

interface ProxyState {
  /** By the id of the test that has set them. */
  readonly faults: Map<string, ParsedFaults>;
  readonly calls: SeenCall[];
  sequence: number;
}

const invocationSchema = z.object({ fingerprint: z.string().optional() });

/** PUT, DELETE faults/<id> · GET calls?after=N · POST invocations/<function>: what the wrapper of a function asks. */
function control(state: ProxyState, method: string, url: string, body: Buffer): unknown {
  const { pathname, searchParams } = new URL(url, 'http://proxy');
  const [, kind, name = ''] = pathname.split('/');
  if (kind === 'faults') {
    if (method === 'DELETE') state.faults.delete(name);
    else state.faults.set(name, faultsSchema.parse(JSON.parse(body.toString())));
    return {};
  }
  if (kind === 'calls') {
    const after = Number(searchParams.get('after') ?? 0);
    return state.calls.filter((call) => call.sequence > after);
  }
  if (kind !== 'invocations') throw new Error(`${method} ${url} controls nothing`);
  const { fingerprint } = invocationSchema.parse(JSON.parse(body.toString()));
  const fault = [...state.faults.values()]
    .flatMap(({ functions }) => functions)
    .find((one) => one.function === name && one.fingerprint === fingerprint && one.times > 0);
  if (fault === undefined) return { action: 'none' };
  fault.times -= 1;
  return { action: fault.action };
}
