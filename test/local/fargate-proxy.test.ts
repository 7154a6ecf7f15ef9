import { Agent, type IncomingMessage, request } from 'node:http';
import { constants, type ServerHttp2Stream } from 'node:http2';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256Hex } from '../../shared/domain/sha256.ts';
import { createFakeTaskRuntime } from '../support/fake-task-runtime.ts';
import { addressOf, type FargateFixture, startFargate } from '../support/fargate-fixture.ts';

const MiB = 1_024 * 1_024;

interface Seen {
  readonly headers: Record<string, unknown>;
  readonly stream: ServerHttp2Stream;
}

let fargate: FargateFixture;
let address: { host: string; port: number };
const seen: Seen[] = [];
const agent = new Agent({ keepAlive: true });

function handler(stream: ServerHttp2Stream, headers: Record<string, unknown>): void {
  seen.push({ headers, stream });
  const path = String(headers[':path']);
  if (path === '/hash') {
    void buffer(stream).then((body) => {
      stream.respond({ ':status': 200, 'x-size': body.length });
      stream.end(sha256Hex(body));
    });
  } else if (path.startsWith('/bytes')) {
    stream.respond({ ':status': 200, 'content-length': 8 * MiB });
    stream.end(Buffer.alloc(8 * MiB, 'b'));
  } else if (path === '/refuse') {
    stream.respond({ ':status': 413, 'x-why': 'large' });
    stream.end('too large');
  } else if (path === '/half') {
    stream.respond({ ':status': 200 });
    stream.write('half', () => stream.destroy(new Error('half')));
  } else if (path === '/silent-reset') {
    stream.close(constants.NGHTTP2_REFUSED_STREAM);
  } else if (path === '/never-ends') {
    stream.respond({ ':status': 200 });
    stream.write('half');
  } else if (path !== '/hang') {
    stream.respond({ ':status': 200, connection: undefined });
    stream.end('ok');
  }
}

beforeAll(async () => {
  fargate = await startFargate(createFakeTaskRuntime({ handler }));
  address = addressOf(await fargate.until((await fargate.run()).taskArn, 'RUNNING'));
});
afterAll(async () => {
  agent.destroy();
  await fargate.close();
});

function call(
  path: string,
  options: {
    method?: string;
    body?: Uint8Array;
    headers?: Record<string, string>;
    signal?: AbortSignal;
  } = {},
): Promise<{ response: IncomingMessage; body: Buffer }> {
  return new Promise((resolve, reject) => {
    const { body, ...rest } = options;
    const outgoing = request({ ...address, path, agent, ...rest }, (response) => {
      buffer(response).then((bytes) => resolve({ response, body: bytes }), reject);
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

const last = (): Seen => {
  const one = seen.at(-1);
  if (one === undefined) throw new Error('the daemon saw no request');
  return one;
};

describe('the network in front of a task', () => {
  it('carries method, path with query and headers as sent, and no hop-by-hop header', async () => {
    await call('/x?path=a%2Fb&c=%C3%A4', {
      method: 'PUT',
      headers: {
        connection: 'keep-alive, x-private',
        'x-private': 'p',
        te: 'trailers',
        'x-cognition-nonce': 'n',
      },
    });

    const { headers } = last();
    expect(headers).toMatchObject({
      ':method': 'PUT',
      ':path': '/x?path=a%2Fb&c=%C3%A4',
      'x-cognition-nonce': 'n',
    });
    expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['x-private']));
    for (const name of ['connection', 'keep-alive', 'te', 'x-private', 'host'])
      expect(headers[name]).toBeUndefined();
  });

  it('carries large bodies whole in both directions', async () => {
    const body = Buffer.alloc(10 * MiB);
    for (let at = 0; at < body.length; at += 4) body.writeUInt32LE(at, at);

    const up = await call('/hash', { method: 'PUT', body });
    const down = await call('/bytes');

    expect(up.body.toString()).toBe(sha256Hex(body));
    expect(up.response.headers['x-size']).toBe(String(body.length));
    expect(down.body.equals(Buffer.alloc(8 * MiB, 'b'))).toBe(true);
  });

  it('carries a body that does not say its length', async () => {
    const body = await new Promise<string>((resolve, reject) => {
      const outgoing = request({ ...address, path: '/hash', method: 'PUT', agent }, (response) => {
        buffer(response).then((bytes) => resolve(bytes.toString()), reject);
      });
      outgoing.write('one');
      outgoing.end('two');
    });

    expect(body).toBe(sha256Hex('onetwo'));
  });

  it('passes on a refusal that comes before the body was read, and the connection lives on', async () => {
    const refused = await call('/refuse', { method: 'PUT', body: Buffer.alloc(4 * MiB) });
    const next = await call('/next');

    expect(refused.response.statusCode).toBe(413);
    expect(refused.body.toString()).toBe('too large');
    expect(next.body.toString()).toBe('ok');
  });

  it('resets the connection instead of ending an answer that the daemon did not end', async () => {
    await expect(call('/half')).rejects.toMatchObject({ code: 'ECONNRESET' });
    await expect(call('/silent-reset')).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect((await call('/next')).body.toString()).toBe('ok');
  });

  it('resets only the stream of a caller who goes away', async () => {
    const stop = new AbortController();
    const hanging = call('/hang', { signal: stop.signal });
    hanging.catch(() => undefined);
    while (seen.at(-1)?.headers[':path'] !== '/hang') await new Promise((resolve) => setTimeout(resolve, 2));
    const { stream } = last();
    const closed = new Promise<void>((resolve) => stream.once('close', () => resolve()));

    stop.abort();
    await closed;

    expect(stream.rstCode).toBe(constants.NGHTTP2_CANCEL);
    expect((await call('/next')).body.toString()).toBe('ok');
  });

  it('does not buffer an answer that nobody reads', async () => {
    const socket = connect(address.port, address.host);
    socket.pause();
    socket.write('GET /bytes/slow HTTP/1.1\r\nhost: x\r\n\r\n');
    while (seen.at(-1)?.headers[':path'] !== '/bytes/slow')
      await new Promise((resolve) => setTimeout(resolve, 2));

    const next = await call('/next');

    expect(next.body.toString()).toBe('ok');
    socket.destroy();
  });

  it.each([
    ['garbage', 'SSH-2.0-x\r\n\r\n'],
    ['a tunnel', 'CONNECT example.com:443 HTTP/1.1\r\nhost: example.com\r\n\r\n'],
    [
      'length and chunks at once',
      'PUT / HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
  ])('closes a connection that brings %s, without troubling the daemon', async (_, bytes) => {
    const before = seen.length;
    const socket = connect(address.port, address.host);
    socket.resume();

    socket.write(bytes);
    await new Promise<void>((resolve) => socket.once('close', () => resolve()));

    expect(seen).toHaveLength(before);
    expect((await call('/next')).body.toString()).toBe('ok');
  });

  it.each([
    ['dies', (index: number) => fargate.runtime.tasks[index]?.exit(1)],
    ['closes its channel', (index: number) => fargate.runtime.tasks[index]?.hangUp()],
  ])('cuts an answer off, rather than ending it, when the daemon %s', async (_, end) => {
    const task = await fargate.until((await fargate.run()).taskArn, 'RUNNING');
    const index = fargate.runtime.tasks.length - 1;
    const answer = new Promise((resolve, reject) => {
      const outgoing = request({ ...addressOf(task), path: '/never-ends' }, (response) => {
        response.once('data', () => end(index));
        buffer(response).then(resolve, reject);
      });
      outgoing.on('error', reject).end();
    });

    await expect(answer).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it('ends its connections with the task', async () => {
    const task = await fargate.until((await fargate.run()).taskArn, 'RUNNING');
    const socket = connect(addressOf(task).port, addressOf(task).host);
    socket.on('error', () => undefined);
    await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));

    fargate.runtime.tasks.at(-1)?.exit(1);

    await closed;
    expect((await fargate.until(task.taskArn, 'STOPPED')).lastStatus).toBe('STOPPED');
  });
});
