/** A daemon that lies: a TCP server whose answers a test writes byte by byte. */
import { createServer, type Socket } from 'node:net';

export interface SeenRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Counts connections from 1. */
  readonly connection: number;
}

export type FakeAnswer = (socket: Socket, request: SeenRequest) => void;

export interface FakeDaemon {
  readonly host: string;
  readonly port: number;
  readonly requests: SeenRequest[];
  readonly connections: () => number;
  /** What the next requests get. */
  answer: FakeAnswer;
  /** Called with each new connection, before any byte. */
  onConnection: (socket: Socket) => void;
  close(): Promise<void>;
}

export const rawAnswer = (status: string, headers: readonly string[], body: Uint8Array | string): Buffer =>
  Buffer.concat([Buffer.from(`HTTP/1.1 ${status}\r\n${headers.join('\r\n')}\r\n\r\n`), Buffer.from(body)]);

export const jsonAnswer = (json: unknown, status = '200 OK'): Buffer => {
  const body = Buffer.from(JSON.stringify(json));
  return rawAnswer(status, ['content-type: application/json', `content-length: ${body.length}`], body);
};

export const answerJson =
  (json: unknown, status = '200 OK'): FakeAnswer =>
  (socket) =>
    void socket.write(jsonAnswer(json, status));

/** Takes one request after the other off what has arrived; bodies need a content-length. */
function takeRequest(state: { bytes: Buffer }, connection: number): SeenRequest | undefined {
  const end = state.bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = state.bytes.subarray(0, end).toString('latin1').split('\r\n');
  const [method = '', target = ''] = first.split(' ');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
  const length = Number(headers['content-length'] ?? 0);
  if (state.bytes.length < end + 4 + length) return undefined;
  const body = state.bytes.subarray(end + 4, end + 4 + length);
  state.bytes = state.bytes.subarray(end + 4 + length);
  return { method, target, headers, body, connection };
}

export async function startFakeDaemon(answer: FakeAnswer = answerJson({})): Promise<FakeDaemon> {
  const requests: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    const connection = connections;
    const state = { bytes: Buffer.alloc(0) };
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    daemon.onConnection(socket);
    socket.on('data', (chunk) => {
      state.bytes = Buffer.concat([state.bytes, chunk]);
      for (let next = takeRequest(state, connection); next; next = takeRequest(state, connection)) {
        requests.push(next);
        daemon.answer(socket, next);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const daemon: FakeDaemon = {
    host: '127.0.0.1',
    port: typeof address === 'object' && address !== null ? address.port : 0,
    requests,
    connections: () => connections,
    answer,
    onConnection: () => undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
  return daemon;
}
