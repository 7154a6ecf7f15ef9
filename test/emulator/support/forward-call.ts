/** A call of a function on its way to the service that it is meant for. */
import { Agent, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Service } from './fault-rules.ts';

export interface ProxiedCall {
  readonly function: string;
  readonly service: Service;
  readonly operation: string;
  readonly path: string;
  readonly body: Buffer;
  readonly incoming: IncomingMessage;
}

export interface Answer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
}

const agent = new Agent({ keepAlive: true, maxSockets: 256 });
/** Not the host: a signature is over it. */
const HOP_BY_HOP: readonly string[] = ['connection', 'expect', 'keep-alive', 'transfer-encoding'];

/** @param upstream endpoint of the service, with or without a path. */
export function forwardCall(
  call: Pick<ProxiedCall, 'path' | 'body' | 'incoming'>,
  upstream: string,
): Promise<Answer> {
  const target = new URL(upstream.replace(/\/$/, '') + call.path);
  const headers = Object.fromEntries(
    Object.entries(call.incoming.headers).filter(([name]) => !HOP_BY_HOP.includes(name)),
  );
  return new Promise((resolve, reject) => {
    const outgoing = request(
      target,
      {
        method: call.incoming.method ?? 'GET',
        agent,
        headers: { ...headers, 'content-length': call.body.length },
      },
      (response) => {
        buffer(response).then((body) => {
          const kept = Object.entries(response.headers).flatMap(([name, value]) =>
            value === undefined || HOP_BY_HOP.includes(name) ? [] : [[name, value] as const],
          );
          resolve({ status: response.statusCode ?? 502, headers: Object.fromEntries(kept), body });
        }, reject);
      },
    );
    outgoing.once('error', reject);
    outgoing.end(call.body);
  });
}
