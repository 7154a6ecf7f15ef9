import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { problemSchema } from '../../shared/contracts/error-codes.ts';
import { LIMITS } from '../../shared/contracts/limits.ts';
import { encodeScopeRef } from '../../shared/domain/scope.ts';
import { fakeServices, SCOPE } from '../support/api-fakes.ts';
import {
  aws4fetch,
  REGION,
  rawExchange,
  SECRET,
  SIGNERS,
  type SignWith,
  SKILLS,
  smithy,
  startGateway,
  type TestGateway,
  type ToSign,
} from '../support/api-gateway.ts';
import { sampleSkill } from '../support/api-samples.ts';

let gateway: TestGateway;
let reached: number;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());
beforeEach(() => {
  reached = 0;
  const skill = async () => {
    reached += 1;
    return sampleSkill();
  };
  fakeServices({
    skills: {
      create: skill,
      get: skill,
      getFile: async () => Promise.reject(new Error('unused')),
      list: async () => ({ items: [] }),
    },
  });
});

const post = (): ToSign & { body: string } => ({
  method: 'POST',
  url: `${gateway.base}${SKILLS}`,
  headers: { 'content-type': 'application/json', 'x-amz-meta': 'signed' },
  body: '{"name":"ticket-analysis","content":"x"}',
});

async function denied(response: Response, message: RegExp): Promise<void> {
  const problem = problemSchema.parse(await response.json());
  expect([response.status, problem.code], JSON.stringify(problem)).toEqual([403, 'access_denied']);
  expect(problem.detail).toMatch(message);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(reached).toBe(0);
}

describe.each(SIGNERS)('requests signed by %s', (_name, sign) => {
  const send = async (
    request: ToSign,
    options: SignWith = {},
    sent: Partial<ToSign> = {},
  ): Promise<Response> => {
    const headers = await sign(request, options);
    const { host: _host, ...others } = { ...headers, ...sent.headers };
    const { method, url, body } = { ...request, ...sent };
    return fetch(url, { method, headers: others, ...(body === undefined ? {} : { body }) });
  };

  it('with the right key reach the handler', async () => {
    const response = await send(post());

    expect(response.status).toBe(201);
    expect(reached).toBe(1);
  });

  it.each([
    '?limit=5',
    '?cursor=a%20b%2Bc%2F%3D&limit=5',
    '?cursor=%C3%A9%21%27%28%29%2A~',
    '?limit=5&cursor=A',
  ])('with query %s reach it', async (query) => {
    expect((await send({ method: 'GET', url: `${gateway.base}${SKILLS}${query}` })).status).toBe(200);
  });

  it('with encoded characters in the path are verified over the path as sent', async () => {
    const response = await send({ method: 'GET', url: `${gateway.base}${SKILLS}/a%2Fb%20c!'()*` });

    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: 'not_found' });
  });

  it.each([-LIMITS.clockSkewSeconds + 5, LIMITS.clockSkewSeconds - 5])(
    '%i seconds off reach it',
    async (seconds) => {
      expect((await send(post(), { date: new Date(Date.now() + seconds * 1000) })).status).toBe(201);
    },
  );

  it.each([-LIMITS.clockSkewSeconds - 5, LIMITS.clockSkewSeconds + 5, -86_400])(
    '%i seconds off are denied',
    async (seconds) => {
      await denied(
        await send(post(), { date: new Date(Date.now() + seconds * 1000) }),
        /seconds away.*set the clock/,
      );
    },
  );

  it('with an unknown key are denied', async () => {
    await denied(await send(post(), { accessKeyId: 'AKIDUNKNOWN' }), /access key is not known/);
  });

  it('with a wrong secret are denied', async () => {
    await denied(await send(post(), { secret: `${SECRET}x` }), /signature does not match/);
  });

  it('for another Region or service are denied', async () => {
    await denied(await send(post(), { region: 'eu-west-1' }), new RegExp(`another Region.*${REGION}`));
    await denied(await send(post(), { service: 's3' }), /another service/);
  });

  it('with another body than signed are denied', async () => {
    const body = post().body.replace('"x"', '"y"');
    await denied(await send(post(), {}, { body }), /body/);
  });

  it('with another path than signed are denied', async () => {
    const other = encodeScopeRef({ ...SCOPE, project: 'other' });
    const url = `${gateway.base}/v1/scopes/${other}/skills`;
    await denied(await send(post(), {}, { url }), /signature does not match/);
  });

  it('with another query than signed are denied', async () => {
    const request = { method: 'GET', url: `${gateway.base}${SKILLS}?limit=5` };
    for (const query of ['?limit=6', '', '?limit=5&cursor=a', '?limit=5&limit=5']) {
      await denied(
        await send(request, {}, { url: `${gateway.base}${SKILLS}${query}` }),
        /signature does not match/,
      );
    }
  });

  it('with another method than signed are denied', async () => {
    const request = { method: 'GET', url: `${gateway.base}${SKILLS}/ticket-analysis` };
    await denied(await send(request, {}, { method: 'DELETE' }), /signature does not match/);
  });

  it('with a signed header altered, or one that should be signed added, are denied', async () => {
    await denied(await send(post(), {}, { headers: { 'x-amz-meta': 'other' } }), /signature does not match/);
    await denied(await send(post(), {}, { headers: { 'x-amz-extra': 'new' } }), /x-amz-extra must be signed/);
  });

  it('with the date of another day than the credential are denied', async () => {
    const date = new Date(Date.now() - 86_400_000);
    const now = new Date().toISOString().replace(/[:-]|\.\d{3}/g, '');
    await denied(await send(post(), { date }, { headers: { 'x-amz-date': now } }), /date of the credential/);
  });

  it('with a session token that the key does not have are denied', async () => {
    await denied(await send(post(), { sessionToken: 'made-up' }), /session token/);
  });
});

describe('requests that are not signed as they must be', () => {
  const authorization = (credential: string, signedHeaders: string, signature = 'a'.repeat(64)): string =>
    `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${signedHeaders}, Signature=${signature}`;

  it('unsigned', async () => {
    await denied(await fetch(`${gateway.base}${SKILLS}`), /not signed/);
  });

  it.each([
    'Bearer x',
    'AWS4-HMAC-SHA256',
    'AWS4-HMAC-SHA256 Credential=a/b/c, SignedHeaders=, Signature=',
    authorization('a/20260101/us-east-1/execute-api/aws4_request', 'host', 'A'.repeat(64)),
  ])('Authorization: %s', async (value) => {
    await denied(
      await fetch(`${gateway.base}${SKILLS}`, { headers: { authorization: value } }),
      /Authorization header is not/,
    );
  });

  it('two Authorization headers', async () => {
    const headers = await aws4fetch({ method: 'GET', url: `${gateway.base}${SKILLS}` });
    const lines = ['authorization', 'authorization']
      .map((name) => `${name}: ${headers.authorization}\r\n`)
      .join('');

    const answer = await rawExchange(
      gateway.port,
      `GET ${SKILLS} HTTP/1.1\r\nhost: 127.0.0.1:${gateway.port}\r\nx-amz-date: ${headers['x-amz-date']}\r\n${lines}connection: close\r\n\r\n`,
    );

    expect(answer).toMatch(/^HTTP\/1.1 403/);
  });

  it('host or date left out of the signed headers', async () => {
    const headers = await aws4fetch({ method: 'GET', url: `${gateway.base}${SKILLS}` });
    for (const name of ['host', 'x-amz-date']) {
      const value = headers.authorization?.replace(
        /SignedHeaders=[^,]*/,
        `SignedHeaders=${name === 'host' ? 'x-amz-date' : 'host'}`,
      );
      const response = await fetch(`${gateway.base}${SKILLS}`, {
        headers: { ...headers, authorization: value ?? '' },
      });
      await denied(response, new RegExp(`${name} must be signed`));
    }
  });

  it('no x-amz-date', async () => {
    const { 'x-amz-date': _date, ...headers } = await aws4fetch({
      method: 'GET',
      url: `${gateway.base}${SKILLS}`,
    });
    await denied(await fetch(`${gateway.base}${SKILLS}`, { headers }), /x-amz-date is missing/);
  });

  it.each(['20261399T000000Z', '2026-11-30T00:00:00Z', 'now'])('x-amz-date %s', async (date) => {
    const headers = await aws4fetch({ method: 'GET', url: `${gateway.base}${SKILLS}` });
    await denied(
      await fetch(`${gateway.base}${SKILLS}`, { headers: { ...headers, 'x-amz-date': date } }),
      /x-amz-date/,
    );
  });

  it.each(['UNSIGNED-PAYLOAD', 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD', ''])('payload hash %s', async (hash) => {
    const request = { ...post(), headers: { 'x-amz-content-sha256': hash } };
    for (const sign of [smithy, aws4fetch]) {
      const { host: _host, ...headers } = await sign(request);
      await denied(
        await fetch(request.url, { method: 'POST', headers, body: request.body }),
        /unsigned and streaming|signature does not match/,
      );
    }
  });

  it('a signed hash of another body', async () => {
    const request = { ...post(), headers: { 'x-amz-content-sha256': 'b'.repeat(64) } };
    const { host: _host, ...headers } = await smithy(request);
    await denied(
      await fetch(request.url, { method: 'POST', headers, body: request.body }),
      /body is not the one/,
    );
  });

  it('presigned in the query', async () => {
    const url = `${gateway.base}${SKILLS}?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=${'a'.repeat(64)}`;
    await denied(await fetch(url), /presigned/);
  });

  it('a replayed signature on another host name', async () => {
    const headers = await aws4fetch({ method: 'GET', url: `${gateway.base}${SKILLS}` });
    const answer = await rawExchange(
      gateway.port,
      `GET ${SKILLS} HTTP/1.1\r\nhost: other.test\r\nx-amz-date: ${headers['x-amz-date']}\r\nauthorization: ${headers.authorization}\r\nconnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 403/);
  });
});

it('a key with a session token needs exactly that token', async () => {
  const own = await startGateway({
    credentials: () => ({
      secretAccessKey: SECRET,
      sessionToken: 'token-1',
      accountId: '123456789012',
      principalId: 'AROAEXAMPLEROLEID001',
      sessionName: 's',
      userArn: 'arn',
    }),
  });
  const status = async (options: SignWith): Promise<number> => {
    const url = `${own.base}${SKILLS}/ticket-analysis`;
    const { host: _host, ...headers } = await smithy({ method: 'GET', url }, options);
    return (await fetch(url, { headers })).status;
  };

  const statuses = [
    await status({ sessionToken: 'token-1' }),
    await status({ sessionToken: 'token-2' }),
    await status({}),
  ];
  await own.close();

  expect(statuses).toEqual([200, 403, 403]);
});
