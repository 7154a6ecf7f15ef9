import { randomBytes } from 'node:crypto';
import { AwsV4Signer } from 'aws4fetch';
import { describe, expect, it } from 'vitest';
import { ApiError, TransportError } from '../../cli/client/client-errors.ts';
import { type ClientOptions, createClient } from '../../cli/client/create-client.ts';
import { ROUTES } from '../../shared/contracts/routes.ts';
import { encodeScopeRef } from '../../shared/domain/scope.ts';
import { type FakeHandlers, problem, startFakeApi } from '../support/cli-fake-api.ts';
import { ARTIFACT_ID, RUN_ID, sampleAgent, sampleRun, sampleSkill, sha256 } from '../support/cli-samples.ts';

const CREDENTIALS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret', sessionToken: 'session' };
const SCOPE = { tenant: 'acme', project: 'support' };
const FILES = new Map([['SKILL.md', '---\nname: hello\ndescription: Hi.\n---\n']]);

function clientOf(url: string, options: Partial<ClientOptions> = {}) {
  return createClient({
    endpoint: url,
    region: 'eu-west-1',
    scope: SCOPE,
    credentials: async () => CREDENTIALS,
    sleep: async () => {},
    ...options,
  });
}

const skillAnswer = () => ({ json: sampleSkill(), headers: { etag: '"e1"' } });
const bytesAnswer = (bytes: Uint8Array) => ({
  bytes,
  headers: { 'content-disposition': 'attachment', etag: `"${sha256(bytes)}"` },
});

describe('the client', () => {
  it('has a method for every route of the API', () => {
    const client = clientOf('http://127.0.0.1:9');

    expect(Object.keys(client)).toEqual(expect.arrayContaining(ROUTES.map(({ operation }) => operation)));
  });

  it('names the scope in the path, and nothing else names it', async () => {
    const api = await startFakeApi({ getSkill: skillAnswer });

    const { value, etag } = await clientOf(api.url).getSkill('hello');

    expect(value.name).toBe('hello');
    expect(etag).toBe('e1');
    expect(api.requests[0]?.target).toBe(`/v1/scopes/${encodeScopeRef(SCOPE)}/skills/hello`);
  });

  it.each(['..', '.', '', 'a/b', '%2e%2e', 'a?b'])('never lets %j into a path', async (name) => {
    const api = await startFakeApi({ deleteSkill: () => ({ status: 204 }) });

    const call = clientOf(api.url).deleteSkill(name);

    await expect(call).rejects.toMatchObject({ code: 'refused_request' });
    expect(api.requests).toEqual([]);
  });

  it('sends a file called __proto__ like any other', async () => {
    const api = await startFakeApi({ putSkill: skillAnswer });
    const files = new Map([...FILES, ['__proto__', 'x'], ['constructor', 'y']]);

    await clientOf(api.url).putSkill('hello', { files });

    const sent = api.requests[0]?.body.toString() ?? '';
    expect(sent).toContain('"__proto__":"x"');
    expect(sent).toContain('"constructor":"y"');
  });

  it('turns a problem into an error with its code, places and request id', async () => {
    const problems = [{ code: 'frontmatter_yaml', path: 'SKILL.md', line: 3, column: 1, message: 'bad' }];
    const api = await startFakeApi({
      putSkill: () => problem('invalid_package', '1 problem', { problems, request_id: 'r1' }),
    });

    const call = clientOf(api.url).putSkill('hello', { files: FILES });

    const error = await call.catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: 'invalid_package', status: 422, requestId: 'r1', problems });
  });

  it.each([
    ['HTML', { status: 502, bytes: Buffer.from('<html>'), headers: {} }],
    ['what API Gateway says itself', { status: 403, json: { message: 'Forbidden' } }],
    ['an answer with other fields', { json: { items: [{ nope: 1 }] } }],
    ['an answer that is no JSON', { bytes: Buffer.from('{') }],
  ])('refuses %s as unexpected', async (_case, answer) => {
    const api = await startFakeApi({ listSkills: () => answer });

    const call = clientOf(api.url, { retries: 0 }).listSkills();

    await expect(call).rejects.toMatchObject({ name: 'TransportError', code: 'unexpected_answer' });
  });

  it('follows no redirect', async () => {
    const target = await startFakeApi({});
    const api = await startFakeApi({
      listSkills: () => ({ status: 307, headers: { location: `${target.url}/elsewhere` } }),
    });

    await expect(clientOf(api.url).listSkills()).rejects.toMatchObject({ code: 'unexpected_answer' });
    expect(target.requests).toEqual([]);
  });
});

describe('signatures of the client', () => {
  it.each([
    ['a GET with a query', (api: string) => clientOf(api).diffSkill('hello', RUN_ID, ARTIFACT_ID)],
    [
      'a path with spaces, plus and umlauts',
      (api: string) => clientOf(api).getSkillFile('hello', 'a b+ü&=.md'),
    ],
    ['a small body', (api: string) => clientOf(api).putAgent('helper', { skills: ['hello'] })],
    ['a compressed body', (api: string) => clientOf(api).createArtifact(Buffer.alloc(200_000), 'text/plain')],
  ])('agree with a second implementation for %s', async (_case, call) => {
    const api = await startFakeApi({});

    await call(api.url).catch(() => {});

    const [request] = api.requests;
    if (request === undefined) throw new Error('nothing was sent');
    const signed = /SignedHeaders=([^,]+)/.exec(String(request.headers.authorization))?.[1]?.split(';') ?? [];
    const headers = new Headers();
    for (const name of signed) if (name !== 'host') headers.set(name, String(request.headers[name]));
    const signer = new AwsV4Signer({
      method: request.method,
      url: `${api.url}${request.target}`,
      headers,
      body: request.raw,
      ...CREDENTIALS,
      service: 'execute-api',
      region: 'eu-west-1',
      datetime: String(request.headers['x-amz-date']),
      allHeaders: true,
    });
    const expected = (await signer.sign()).headers.get('authorization');
    expect(request.headers.authorization).toBe(expected?.replaceAll(', ', ', '));
    expect(signed).toEqual(expect.arrayContaining(['host', 'x-amz-content-sha256', 'x-amz-security-token']));
  });

  it('are made anew for each attempt, with the time of that attempt', async () => {
    let time = Date.UTC(2026, 10, 30, 12);
    const answers = [problem('unavailable', 'busy'), skillAnswer()];
    const api = await startFakeApi({ getSkill: () => answers.shift() ?? {} });

    const now = () => {
      time += 60_000;
      return time;
    };
    await clientOf(api.url, { now }).getSkill('hello');

    const dates = api.requests.map(({ headers }) => headers['x-amz-date']);
    expect(dates).toEqual(['20261130T120100Z', '20261130T120200Z']);
  });
});

describe('bodies of the client', () => {
  it('are compressed above 64 KiB, and not below', async () => {
    const api = await startFakeApi({ putSkill: skillAnswer });
    const client = clientOf(api.url);
    const large = new Map([...FILES, ['big.txt', 'x'.repeat(100_000)]]);

    await client.putSkill('hello', { files: FILES });
    await client.putSkill('hello', { files: large });

    const [small, big] = api.requests;
    expect(small?.headers['content-encoding']).toBeUndefined();
    expect(big?.headers['content-encoding']).toBe('gzip');
    expect(big?.raw.length).toBeLessThan(5_000);
    expect(JSON.parse(String(big?.body)).files['big.txt']).toHaveLength(100_000);
  });

  it('over the limit are refused before they are sent', async () => {
    const api = await startFakeApi({});

    const call = clientOf(api.url).createArtifact(randomBytes(5 * 1024 * 1024), 'application/octet-stream');

    await expect(call).rejects.toMatchObject({ code: 'refused_request' });
    expect(api.requests).toEqual([]);
  });
});

describe('retries of the client', () => {
  const retried = (handlers: FakeHandlers) => startFakeApi(handlers);

  it('send a POST again under the same Idempotency-Key when the connection breaks', async () => {
    const answers = [{ hangUp: true }, { hangUp: true }, { status: 202, json: sampleRun() }];
    const api = await retried({ createRun: () => answers.shift() ?? {} });

    const run = await clientOf(api.url).createRun({ agent: 'helper', command: { argv: ['true'] } });

    const keys = api.requests.map(({ headers }) => headers['idempotency-key']);
    expect(run.run_id).toBe(RUN_ID);
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toBeTypeOf('string');
  });

  it('use another key for another call', async () => {
    const api = await retried({ createRun: () => ({ status: 202, json: sampleRun() }) });
    const client = clientOf(api.url);

    await client.createRun({ agent: 'helper', command: { argv: ['true'] } });
    await client.createRun({ agent: 'helper', command: { argv: ['true'] } });

    expect(new Set(api.requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(2);
  });

  it('never send again what is not repeatable, once the connection broke', async () => {
    const api = await retried({ createAgent: () => ({ hangUp: true }) });

    const call = clientOf(api.url).createAgent({ name: 'helper' });

    await expect(call).rejects.toBeInstanceOf(TransportError);
    expect(api.requests).toHaveLength(1);
  });

  it('wait as Retry-After says', async () => {
    const waits: number[] = [];
    const busy = problem('quota_exceeded', 'too many runs');
    const answers = [
      { ...busy, headers: { ...busy.headers, 'retry-after': '7' } },
      { status: 202, json: sampleRun() },
    ];
    const api = await retried({ createRun: () => answers.shift() ?? {} });

    const client = clientOf(api.url, {
      sleep: async (ms) => {
        waits.push(ms);
      },
    });
    await client.createRun({ agent: 'helper', command: { argv: ['true'] } });

    expect(waits).toEqual([7_000]);
  });

  it.each([
    ['invalid_request', 1],
    ['agent_not_found', 1],
    ['internal_error', 1],
    ['quota_exceeded', 4],
    ['unavailable', 4],
  ] as const)('for %s make %i requests', async (code, requests) => {
    const api = await retried({ createRun: () => problem(code, 'no') });

    const call = clientOf(api.url).createRun({ agent: 'helper', command: { argv: ['true'] } });

    await expect(call).rejects.toMatchObject({ code });
    expect(api.requests).toHaveLength(requests);
  });
});

describe('bytes that the client fetches', () => {
  const download = (url: string, bytes: Buffer, changes: Record<string, unknown> = {}) => ({
    json: {
      download_url: url,
      expires_at: '2026-11-30T12:01:00Z',
      sha256: sha256(bytes),
      size_bytes: bytes.length,
      ...changes,
    },
  });

  it('are checked against the hash of the list', async () => {
    const bytes = Buffer.from('report');
    const api = await startFakeApi({ getRunArtifacts: () => bytesAnswer(bytes) });
    const client = clientOf(api.url);

    const good = await client.getRunArtifact(RUN_ID, 'report.json', sha256(bytes));
    const bad = client.getRunArtifact(RUN_ID, 'report.json', sha256('other'));

    expect(good.bytes.equals(bytes)).toBe(true);
    await expect(bad).rejects.toMatchObject({ code: 'checksum_mismatch' });
  });

  it('come from where the answer points, without our signature', async () => {
    const bytes = Buffer.from('large');
    const api = await startFakeApi({
      getRunArtifacts: () => download('/downloads/token', bytes),
      'GET /downloads/token': () => ({ bytes }),
    });

    const got = await clientOf(api.url).getRunArtifact(RUN_ID, 'a.bin', sha256(bytes));

    expect(got.bytes.toString()).toBe('large');
    expect(api.requests[1]?.headers.authorization).toBeUndefined();
  });

  it.each([
    [
      'other bytes',
      { 'GET /downloads/token': () => ({ bytes: Buffer.from('forged') }) },
      'checksum_mismatch',
    ],
    [
      'a redirect',
      { 'GET /downloads/token': () => ({ status: 302, headers: { location: '/x' } }) },
      'unreachable',
    ],
    ['an expired link', { 'GET /downloads/token': () => ({ status: 403 }) }, 'unreachable'],
  ])('are refused where the link gives %s', async (_case, handlers, code) => {
    const bytes = Buffer.from('large');
    const api = await startFakeApi({
      getRunArtifacts: () => download('/downloads/token', bytes),
      ...handlers,
    });

    const call = clientOf(api.url).getRunArtifact(RUN_ID, 'a.bin', sha256(bytes));

    await expect(call).rejects.toMatchObject({ code });
  });

  it('are never fetched over plain http from another host', async () => {
    const bytes = Buffer.from('large');
    const api = await startFakeApi({
      getRunArtifacts: () => download('http://example.com/a', bytes),
    });

    const call = clientOf(api.url).getRunArtifact(RUN_ID, 'a.bin', sha256(bytes));

    await expect(call).rejects.toMatchObject({ code: 'unexpected_answer', message: /not https/ });
  });

  it('that look like a download answer are still bytes: a script wrote them', async () => {
    const forged = Buffer.from(JSON.stringify(download('http://evil.example/', Buffer.alloc(0)).json));
    const api = await startFakeApi({
      getRunArtifacts: () => ({
        bytes: forged,
        headers: { 'content-type': 'application/json', 'content-disposition': 'attachment' },
      }),
    });

    const got = await clientOf(api.url).getRunArtifact(RUN_ID, 'report.json', sha256(forged));

    expect(got.bytes.equals(forged)).toBe(true);
  });

  it('are not read beyond the largest answer there is', async () => {
    const api = await startFakeApi({
      getRunArtifacts: () => ({
        bytes: Buffer.alloc(66 * 1024 * 1024),
        headers: { 'content-disposition': 'attachment' },
      }),
    });

    const call = clientOf(api.url).getRunArtifact(RUN_ID, 'a.bin', sha256(''));

    await expect(call).rejects.toMatchObject({ code: 'unexpected_answer', message: /larger than/ });
  });
});

describe('versions', () => {
  it('travel as If-Match and If-None-Match', async () => {
    const api = await startFakeApi({
      putAgent: () => ({ status: 201, json: sampleAgent(), headers: { etag: '"e2"' } }),
    });
    const client = clientOf(api.url);

    const first = await client.putAgent('helper', {}, { ifNoneMatch: true });
    await client.putAgent('helper', {}, { ifMatch: first.etag });

    expect(first.created).toBe(true);
    expect(api.requests.map(({ headers }) => [headers['if-none-match'], headers['if-match']])).toEqual([
      ['*', undefined],
      [undefined, '"e2"'],
    ]);
  });
});
