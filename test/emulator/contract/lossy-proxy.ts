/** Between a client and the emulator: what is asked is done, but some answers never arrive. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { forwardCall } from '../support/forward-call.ts';

export interface LossyProxy {
  readonly endpoint: string;
  /** Loses the answers to this many of the next requests. */
  lose(count: number): void;
  /** How many have been lost since the last call of `lose`. */
  readonly lost: number;
  close(): Promise<void>;
}

export async function startLossyProxy(target: string): Promise<LossyProxy> {
  let toLose = 0;
  let lost = 0;
  const handle = async (asked: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const call = { path: asked.url ?? '/', body: await buffer(asked), incoming: asked };
    const { status, headers, body } = await forwardCall(call, target);
    if (lost < toLose) {
      lost += 1;
      asked.socket.destroy();
      return;
    }
    answer.writeHead(status, headers).end(body);
  };
  const server = createServer((asked, answer) => {
    handle(asked, answer).catch(() => asked.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lose: (count) => {
      toLose = count;
      lost = 0;
    },
    get lost() {
      return lost;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
