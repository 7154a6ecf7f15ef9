import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ApiHandler } from '../../functions/runtime/api-call.ts';
import { httpEventSchema } from '../../shared/contracts/http-event.ts';
import { LIMITS } from '../../shared/contracts/limits.ts';
import { encodeScopeRef } from '../../shared/domain/scope.ts';
import { ACCOUNT, fakeServices, ROLE, SCOPE } from '../support/api-fakes.ts';
import {
  aws4fetch,
  rawExchange,
  SKILLS,
  startGateway,
  type TestGateway,
  type ToSign,
} from '../support/api-gateway.ts';
import { HANDLERS } from '../support/api-requests.ts';
import { ID, sampleSkill } from '../support/api-samples.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());
beforeEach(() => {
  fakeServices({
    skills: {
      get: async () => sampleSkill(),
      create: async () => sampleSkill(),
      list: async () => ({ items: [] }),
    },
  });
});

async function send(
  _to: TestGateway,
  { method, url, headers, body }: ToSign,
  init: RequestInit = {},
): Promise<Response> {
  const { host: _host, ...signed } = await aws4fetch({
    method,
    url,
    ...(headers && { headers }),
    ...(body === undefined ? {} : { body }),
  });
  return fetch(url, { method, headers: signed, ...(body === undefined ? {} : { body }), ...init });
}

/** The head of a signed request, for what fetch would not send. */
async function signedHead(method: string, path: string, body?: string): Promise<string> {
  const headers = await aws4fetch({
    method,
    url: `${gateway.base}${path}`,
    ...(body === undefined ? {} : { body }),
  });
  const lines = Object.entries({ ...headers, host: `127.0.0.1:${gateway.port}` }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}`;
}

describe('events', () => {
  let events: APIGatewayProxyEvent[];
  let recording: TestGateway;
  beforeAll(async () => {
    const record: ApiHandler = async (event) => {
      events.push(event);
      return {
        statusCode: 200,
        headers: { 'x-own': 'yes' },
        body: Buffer.from([0, 255]).toString('base64'),
        isBase64Encoded: true,
      };
    };
    recording = await startGateway({ handlers: { ...HANDLERS, skills: record } });
  });
  afterAll(() => recording.close());
  beforeEach(() => {
    events = [];
  });

  it('are those of a REST proxy integration', async () => {
    const url = `${recording.base}${SKILLS}/a%2Fb/files?path=x%20y&path=z`;

    const response = await send(recording, { method: 'GET', url, headers: { 'X-Two': 'a, b' } });

    expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.from([0, 255]));
    expect(response.headers.get('x-own')).toBe('yes');
    const [event] = events;
    expect(event).toMatchObject({
      resource: '/v1/scopes/{scopeRef}/skills/{name}/files',
      httpMethod: 'GET',
      path: `${SKILLS}/a%2Fb/files`,
      pathParameters: { scopeRef: encodeScopeRef(SCOPE), name: 'a/b' },
      queryStringParameters: { path: 'z' },
      multiValueQueryStringParameters: { path: ['x y', 'z'] },
      multiValueHeaders: { 'x-two': ['a, b'] },
      body: null,
      isBase64Encoded: false,
      requestContext: {
        accountId: ACCOUNT,
        resourcePath: '/v1/scopes/{scopeRef}/skills/{name}/files',
        requestId: response.headers.get('x-amzn-requestid'),
        identity: {
          accountId: ACCOUNT,
          caller: `${ROLE}:laptop`,
          userArn: `arn:aws:sts::${ACCOUNT}:assumed-role/builder/laptop`,
        },
      },
    });
    expect(httpEventSchema.safeParse(event).success).toBe(true);
  });

  it('have bodies in base64 and no credentials', async () => {
    await send(recording, { method: 'POST', url: `${recording.base}${SKILLS}`, body: 'é' });

    const [event] = events;
    expect([event?.body, event?.isBase64Encoded]).toEqual([Buffer.from('é').toString('base64'), true]);
    expect(Object.keys(event?.headers ?? {})).not.toContain('authorization');
  });
});

describe('paths and methods', () => {
  it.each([
    `${SKILLS}/`,
    `/${SKILLS}`,
    SKILLS.replace('/skills', '//skills'),
    `${SKILLS}/a/%2e%2e`,
    '/v1',
    '/',
    '/admin',
  ])('GET %s is 404', async (path) => {
    const answer = await rawExchange(
      gateway.port,
      `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
    );

    expect(answer).toMatch(/^HTTP\/1.1 404/);
    expect(answer).toContain('"code":"not_found"');
  });

  it('dots are not resolved: the path as sent is what counts', async () => {
    const answer = await rawExchange(
      gateway.port,
      `GET /v1/scopes/other/../${encodeScopeRef(SCOPE)}/skills HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
    );

    expect(answer).toMatch(/^HTTP\/1.1 404/);
  });

  it('a method that a resource does not have is 405 and names the others', async () => {
    const response = await fetch(`${gateway.base}${SKILLS}`, { method: 'DELETE' });

    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST, GET');
    expect(await response.json()).toMatchObject({ code: 'method_not_allowed', status: 405 });
  });

  it('HEAD has no body', async () => {
    const response = await fetch(`${gateway.base}${SKILLS}`, { method: 'HEAD' });

    expect([response.status, await response.text()]).toEqual([405, '']);
  });

  it('a refusal leaves the connection open for the next request', async () => {
    const request = `GET /nothing HTTP/1.1\r\nhost: x\r\n`;

    const answer = await rawExchange(gateway.port, `${request}\r\n${request}connection: close\r\n\r\n`);

    expect(answer.match(/HTTP\/1.1 404/g)).toHaveLength(2);
  });

  it('a broken percent-encoding is 400', async () => {
    const answer = await rawExchange(
      gateway.port,
      `GET ${SKILLS}/%zz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
    );

    expect(answer).toMatch(/^HTTP\/1.1 400/);
  });

  it('healthz answers unsigned', async () => {
    const response = await fetch(`${gateway.base}/healthz`);

    expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }]);
  });
});

describe('bodies', () => {
  it('a gzipped package goes through', async () => {
    const body = gzipSync('{"name":"ticket-analysis","content":"x"}');
    const url = `${gateway.base}${SKILLS}`;
    const { AwsV4Signer } = await import('aws4fetch');
    const { KEY_ID, REGION, SECRET } = await import('../support/api-gateway.ts');
    const signed = await new AwsV4Signer({
      method: 'POST',
      url,
      body,
      headers: { 'content-encoding': 'gzip' },
      accessKeyId: KEY_ID,
      secretAccessKey: SECRET,
      region: REGION,
      service: 'execute-api',
    }).sign();

    const response = await fetch(url, { method: 'POST', headers: signed.headers, body });

    expect(response.status).toBe(201);
  });

  it('one over 4 MiB is 413 and the client can read why', async () => {
    const response = await send(gateway, {
      method: 'POST',
      url: `${gateway.base}${SKILLS}`,
      body: 'x'.repeat(9_000_000),
    });

    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({
      code: 'body_too_large',
      detail: expect.stringContaining(String(LIMITS.requestBodyBytes)),
    });
  });

  it('one over 4 MiB without an announced length is 413 as well', async () => {
    const headers = await aws4fetch({ method: 'POST', url: `${gateway.base}${SKILLS}` });
    const request = httpRequest(`${gateway.base}${SKILLS}`, { method: 'POST', headers });
    const answered = once(request, 'response');
    for (let index = 0; index < 9; index += 1) request.write(Buffer.alloc(1_000_000));
    request.end();

    const [response] = (await answered) as [IncomingMessage];

    expect(response.statusCode).toBe(413);
    expect(JSON.parse((await response.toArray()).join(''))).toMatchObject({ code: 'body_too_large' });
  });

  it('many that come slowly together hold no more than a bound, and free it when they go', async () => {
    const bounded = await startGateway({ unfinishedBytes: 100_000 });
    const url = `${bounded.base}${SKILLS}`;
    const body = JSON.stringify({ name: 't1', content: 'x'.repeat(50_000) });
    const half = httpRequest(url, {
      method: 'POST',
      headers: await aws4fetch({ method: 'POST', url, body }),
    });
    half.on('error', () => undefined);
    half.setHeader('content-length', 90_000);
    half.write('x'.repeat(80_000));
    const post = () => send(bounded, { method: 'POST', url, body });

    let during = await post();
    for (let tries = 0; during.status !== 503 && tries < 50; tries += 1) during = await post();
    const refusal = await during.json();
    half.destroy();
    let after = await post();
    for (let tries = 0; after.status === 503 && tries < 50; tries += 1) after = await post();

    expect(refusal).toMatchObject({ code: 'unavailable' });
    expect(during.headers.get('retry-after')).toBe('1');
    expect(after.status).toBe(201);
    await bounded.close();
  });

  it('a client that asks before sending is told no without sending', async () => {
    const head = await signedHead('POST', SKILLS);

    const answer = await rawExchange(
      gateway.port,
      `${head}content-length: 99000000\r\nexpect: 100-continue\r\n\r\n`,
    );

    expect(answer).toMatch(/^HTTP\/1.1 413/);
    expect(answer).not.toContain('100 Continue');
  });

  it('a client that asks before sending is told to go on', async () => {
    const body = '{"name":"ticket-analysis","content":"x"}';
    const head = await signedHead('POST', SKILLS, body);
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write(
      `${head}content-length: ${body.length}\r\nexpect: 100-continue\r\nconnection: close\r\n\r\n`,
    );
    const [first] = (await once(socket, 'data')) as [Buffer];
    socket.write(body);
    const rest = (await socket.toArray()).join('');

    expect(String(first)).toMatch(/^HTTP\/1.1 100 Continue/);
    expect(rest).toMatch(/^HTTP\/1.1 201/);
  });

  it('an unsigned upload is refused before it is read, and the client can read why', async () => {
    const response = await fetch(`${gateway.base}${SKILLS}`, { method: 'POST', body: 'x'.repeat(3_000_000) });

    expect([response.status, await response.json()]).toMatchObject([403, { code: 'access_denied' }]);
  });

  it('a length that contradicts itself is 400', async () => {
    const answer = await rawExchange(
      gateway.port,
      `POST ${SKILLS} HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    );

    expect(answer).toMatch(/^HTTP\/1.1 400/);
    expect(answer).toContain('application/problem+json');
  });
});

describe('clients that misbehave', () => {
  it.each([
    ['no HTTP', 'hello\r\n\r\n', 400],
    ['no host', `GET ${SKILLS} HTTP/1.1\r\n\r\n`, 400],
    ['headers over 16 KiB', `GET / HTTP/1.1\r\nhost: x\r\na: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ])('%s is answered with a problem', async (_what, text, status) => {
    const answer = await rawExchange(gateway.port, text);

    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status}`));
  });

  it('hundreds of pipelined requests do not run at once', async () => {
    let running = 0;
    let most = 0;
    fakeServices({
      skills: {
        list: async () => {
          running += 1;
          most = Math.max(most, running);
          await sleep(50);
          running -= 1;
          return { items: [] };
        },
      },
    });
    const head = await signedHead('GET', SKILLS);

    await rawExchange(gateway.port, `${head}\r\n`.repeat(300), 500);

    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(32);
  });

  it('one that leaves ends its long poll', async () => {
    let signal: AbortSignal | undefined;
    const events = vi.fn(async (_fingerprint: string, _runId: string, query: { signal?: AbortSignal }) => {
      signal = query.signal;
      await new Promise((resolve) => signal?.addEventListener('abort', resolve));
      return { items: [], run_ended: false };
    });
    fakeServices({ runs: { events } });
    const leaving = new AbortController();
    const url = `${gateway.base}${SKILLS.replace(/skills$/, 'runs')}/${ID}/events?wait_seconds=20`;

    const request = send(gateway, { method: 'GET', url }, { signal: leaving.signal });
    await vi.waitFor(() => expect(events).toHaveBeenCalled());
    leaving.abort();

    await expect(request).rejects.toThrow();
    await vi.waitFor(() => expect(signal?.aborted).toBe(true));
  });

  it('one that leaves in the middle of a body is forgotten without a log line', async () => {
    const head = await signedHead('POST', SKILLS);
    const before = gateway.logger.lines.length;

    await rawExchange(gateway.port, `${head}content-length: 1000\r\n\r\nhalf`, 100);
    await sleep(50);

    expect(gateway.logger.lines).toHaveLength(before);
    expect((await fetch(`${gateway.base}/healthz`)).status).toBe(200);
  });
});

describe('downloads', () => {
  it('are served unsigned by their URL alone; any other is 404', async () => {
    const own = await startGateway({
      downloads: {
        open: async (url) =>
          url === '/downloads/abc?sig=1'
            ? { bytes: Buffer.from('content'), content_type: 'image/png', file_name: `a"b\r\nü.png` }
            : undefined,
      },
    });

    const good = await fetch(`${own.base}/downloads/abc?sig=1`);
    const head = await fetch(`${own.base}/downloads/abc?sig=1`, { method: 'HEAD' });
    const bad = await fetch(`${own.base}/downloads/abc?sig=2`);
    const answers = [await good.text(), await head.text()];
    await own.close();

    expect(answers).toEqual(['content', '']);
    expect(good.headers.get('content-type')).toBe('image/png');
    expect(good.headers.get('content-disposition')).toBe(
      `attachment; filename*=UTF-8''a%22b%0D%0A%C3%BC.png`,
    );
    expect(head.headers.get('content-length')).toBe('7');
    expect([bad.status, await bad.json()]).toMatchObject([404, { code: 'not_found' }]);
  });
});

describe('handlers and logs', () => {
  it('a handler that throws is 500 without its message', async () => {
    const own = await startGateway({
      handlers: {
        ...HANDLERS,
        skills: async () => {
          throw new Error('secret internals');
        },
      },
    });

    const response = await send(own, { method: 'GET', url: `${own.base}${SKILLS}` });
    const text = await response.text();
    await own.close();

    expect(response.status).toBe(500);
    expect(text).not.toContain('secret');
    expect(own.logger.lines).toHaveLength(1);
  });

  it('the access log has id, route template, status and latency, and no scope', async () => {
    const own = await startGateway({ accessLog: true });

    await send(own, { method: 'GET', url: `${own.base}${SKILLS}/ticket-analysis?x=1` });
    await fetch(`${own.base}${SKILLS}/a`);
    await own.close();

    expect(own.logger.lines.map((line) => line.fields)).toEqual(
      [400, 403].map((status) => ({
        request_id: expect.any(String),
        route: 'GET /v1/scopes/{scopeRef}/skills/{name}',
        status,
        latency_ms: expect.any(Number),
      })),
    );
  });
});
