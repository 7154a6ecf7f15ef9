/**
 * Stands between the functions and the emulator: passes calls on, counts them, and treats some as a network or a busy
 * service would. `/<function>/<service>/...` is the endpoint of one function for one service; what is below `/control`
 * is for tests, which run in other processes.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { dynamoUnits, readDynamoCall } from './dynamodb-call.ts';
import {
  faultsSchema,
  type ParsedFaultRule,
  type ParsedFaults,
  SERVICES,
  type SeenCall,
  type Service,
} from './fault-rules.ts';
import { type Answer, forwardCall, type ProxiedCall } from './forward-call.ts';
import { operationOf } from './operation-of.ts';
import { throttled } from './throttled.ts';
import { createTransactionConflicts } from './transaction-conflicts.ts';

export interface FaultProxy {
  /** Functions and tests reach it there. */
  readonly endpoint: string;
  close(): Promise<void>;
}

export interface FaultProxyOptions {
  /** Where calls of a service go. */
  readonly upstream: (service: Service) => string;
  /** What it listens on, and what functions know it by. Default: 127.0.0.1. */
  readonly host?: string;
  readonly bind?: string;
}

export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const { host = '127.0.0.1', bind = host } = options;
  const handle = proxyHandler(options.upstream);
  const server = createServer({ keepAliveTimeout: 75_000, requestTimeout: 0 }, (incoming, response) => {
    handle(incoming, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(502);
      response.end(String(error));
    });
  });
  const port = await listen(server, bind);
  return {
    endpoint: `http://${host}:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
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

function proxyHandler(upstream: FaultProxyOptions['upstream']) {
  const controlled: Controlled = { faults: { rules: [], functions: [] }, calls: [] };
  const conflicts = createTransactionConflicts();
  let sequence = 0;
  return async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = incoming.url ?? '/';
    const body = await buffer(incoming);
    if (url.startsWith('/control/')) {
      const text = JSON.stringify(control(controlled, incoming.method ?? '', url, body));
      response.writeHead(200, { 'content-type': 'application/json' }).end(text);
      return;
    }
    const call = toCall(incoming, url, body);
    sequence += 1;
    const number = sequence;
    const began = performance.now();
    const { answer, fault, facts } = await serve(call, controlled.faults.rules, upstream, conflicts);
    controlled.calls.push({
      sequence: number,
      function: call.function,
      service: call.service,
      operation: call.operation,
      status: answer?.status ?? 0,
      ms: performance.now() - began,
      request_bytes: body.length,
      response_bytes: answer?.body.length ?? 0,
      ...(fault === undefined ? {} : { fault }),
      ...facts,
    });
    if (answer === undefined) response.destroy();
    else response.writeHead(answer.status, answer.headers).end(answer.body);
  };
}

function toCall(incoming: IncomingMessage, url: string, body: Buffer): ProxiedCall {
  const [, name = '', service = '', ...rest] = url.split('/');
  const known = SERVICES.find((one) => one === service);
  if (known === undefined) throw new Error(`${url} names no service`);
  const path = `/${rest.join('/')}`;
  const operation = operationOf(incoming.method ?? '', path, incoming.headers['x-amz-target']);
  return { function: name, service: known, operation, path, body, incoming };
}

interface Served {
  /** Undefined: the connection is to end without one. */
  readonly answer: Answer | undefined;
  readonly fault?: string;
  readonly facts?: ReturnType<typeof dynamoUnits>;
}

async function serve(
  call: ProxiedCall,
  rules: readonly ParsedFaultRule[],
  upstream: FaultProxyOptions['upstream'],
  conflicts: ReturnType<typeof createTransactionConflicts>,
): Promise<Served> {
  const rule = rules.find((one) => matches(one, call) && take(one));
  if (rule?.action === 'throttle') return { answer: throttled(call.service), fault: 'throttle' };
  if (rule?.action === 'reset') return { answer: undefined, fault: 'reset' };
  if (rule?.action === 'delay') await sleep(rule.delay_ms);
  const fault = rule === undefined ? {} : { fault: rule.action };
  const dynamo =
    call.service === 'dynamodb' ? readDynamoCall(call.operation, call.body.toString()) : undefined;
  const leave = dynamo === undefined ? undefined : conflicts.enter(dynamo);
  if (leave !== undefined && typeof leave !== 'function') {
    const headers = { 'content-type': 'application/x-amz-json-1.0' };
    return { answer: { status: leave.status, headers, body: Buffer.from(leave.body) }, fault: 'conflict' };
  }
  try {
    const answer = await forwardCall(call, upstream(call.service));
    const facts =
      dynamo === undefined || answer.status >= 300
        ? {}
        : dynamoUnits(call.operation, dynamo, answer.body.toString());
    return { answer: rule?.action === 'lose_reply' ? undefined : answer, ...fault, facts };
  } finally {
    leave?.();
  }
}

function matches(rule: ParsedFaultRule, call: ProxiedCall): boolean {
  return (
    rule.service === call.service &&
    (rule.functions?.includes(call.function) ?? true) &&
    (rule.operations?.includes(call.operation) ?? true) &&
    (rule.contains === undefined || call.path.includes(rule.contains) || call.body.includes(rule.contains)) &&
    Math.random() < rule.share
  );
}

/** A rule for a number of calls is used up. */
function take(rule: ParsedFaultRule): boolean {
  if (rule.times === undefined) return true;
  if (rule.times === 0) return false;
  rule.times -= 1;
  return true;
}

interface Controlled {
  faults: ParsedFaults;
  readonly calls: SeenCall[];
}

/** PUT faults · GET calls?after=N · POST invocations/<function>: what the wrapper of a function asks. */
function control(controlled: Controlled, method: string, url: string, body: Buffer): unknown {
  const { pathname, searchParams } = new URL(url, 'http://proxy');
  if (method === 'PUT' && pathname === '/control/faults') {
    controlled.faults = faultsSchema.parse(JSON.parse(body.toString()));
    return {};
  }
  if (method === 'GET' && pathname === '/control/calls') {
    const after = Number(searchParams.get('after') ?? 0);
    return controlled.calls.filter((call) => call.sequence > after);
  }
  const invoked = /^\/control\/invocations\/([a-z-]+)$/.exec(pathname)?.[1];
  if (method !== 'POST' || invoked === undefined) throw new Error(`${method} ${url} controls nothing`);
  const fault = controlled.faults.functions.find((one) => one.function === invoked && one.times > 0);
  if (fault === undefined) return { action: 'none' };
  fault.times -= 1;
  return { action: fault.action };
}
