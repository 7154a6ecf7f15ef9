import { createHash, randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SIGNATURE_HEADERS } from '../../shared/contracts/daemon.ts';
import { encodePackage, packageDigest } from '../../shared/domain/canonical-package.ts';
import { importPrivateKey, newSandboxKeyPair, signCall } from '../../shared/domain/daemon-signature.ts';
import { sha256Hex } from '../../shared/domain/sha256.ts';
import { openSandboxes } from '../support/sandbox-form.ts';
import {
  client,
  ids,
  MANIFEST_DIGEST,
  run,
  type SandboxSource,
  startTask,
  type TestTask,
} from '../support/sandboxd-task.ts';

let runtime: SandboxSource;
beforeAll(async () => {
  runtime = await openSandboxes();
});
afterAll(() => runtime.close());

const packageOf = (files: Record<string, string>) => {
  const bytes = encodePackage(new Map(Object.entries(files)));
  return { bytes, digest: packageDigest(bytes) };
};
const bound = async (): Promise<TestTask> => {
  const task = await startTask(runtime);
  await client.bind(task.sandbox, { run_id: task.sandbox.run_id, manifest_digest: MANIFEST_DIGEST });
  return task;
};

interface RawCall {
  method?: string;
  target?: string;
  body?: string | Uint8Array;
  sign?: Partial<Parameters<typeof signCall>[0]>;
  /** Sent instead of what was signed. */
  send?: { target?: string; body?: string | Uint8Array; headers?: Record<string, string> };
  key?: string;
}

/** A call with anything wrong that a test wants. */
function call(
  { sandbox }: TestTask,
  raw: RawCall,
): Promise<{ status: number; json: { code?: string; message?: string } }> {
  const method = raw.method ?? 'GET';
  const body = raw.body ?? '';
  const signed = {
    method,
    target: raw.target ?? '/v1/outputs',
    content_sha256: createHash('sha256').update(body).digest('hex'),
    sandbox_id: sandbox.sandbox_id,
    run_id: sandbox.run_id,
    nonce: randomBytes(16).toString('hex'),
    expires: String(Math.floor(Date.now() / 1_000) + 60),
    ...raw.sign,
  };
  const sent = raw.send?.body ?? body;
  const headers = {
    [SIGNATURE_HEADERS.sandbox]: signed.sandbox_id,
    [SIGNATURE_HEADERS.run]: signed.run_id,
    [SIGNATURE_HEADERS.nonce]: signed.nonce,
    [SIGNATURE_HEADERS.expires]: signed.expires,
    [SIGNATURE_HEADERS.contentSha256]: signed.content_sha256,
    [SIGNATURE_HEADERS.signature]: signCall(signed, importPrivateKey(raw.key ?? sandbox.private_key)),
    'content-length': String(Buffer.byteLength(sent)),
    ...raw.send?.headers,
  };
  return new Promise((resolve, reject) => {
    const options = {
      host: sandbox.host,
      port: sandbox.port,
      method,
      path: raw.send?.target ?? signed.target,
      headers,
      agent: false,
    };
    const outgoing = request(options, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      resolve({ status: response.statusCode ?? 0, json: JSON.parse(Buffer.concat(chunks).toString()) });
    });
    outgoing.once('error', reject);
    outgoing.end(sent);
  });
}

test('a call that is not signed for this sandbox, run, content and moment is refused and changes nothing', async () => {
  const task = await bound();
  const refusals: Record<string, RawCall> = {
    'no signature': { send: { headers: { [SIGNATURE_HEADERS.signature]: '' } } },
    'foreign key': { key: newSandboxKeyPair().private_key },
    'another sandbox': { sign: { sandbox_id: ids.next() } },
    'another run': { sign: { run_id: ids.next() } },
    expired: { sign: { expires: String(Math.floor(Date.now() / 1_000) - 1) } },
    'expires in an hour': { sign: { expires: String(Math.floor(Date.now() / 1_000) + 3_600) } },
    'another path': { send: { target: '/v1/outputs/content?path=x' } },
    'another method': { method: 'POST', sign: { method: 'GET' } },
    'another body': { method: 'POST', target: '/v1/seal', body: '{}', send: { body: '[]' } },
    'a body with a GET': { send: { body: 'x' } },
    'a short nonce': { sign: { nonce: 'abc' } },
  };
  for (const [what, raw] of Object.entries(refusals)) {
    const { status, json } = await call(task, raw);
    expect([what, status, json.code]).toEqual([
      what,
      what === 'a body with a GET' ? 413 : 403,
      what === 'a body with a GET' ? 'too_large' : 'bad_signature',
    ]);
  }

  await client.seal(task.sandbox, { packages: [], inputs: [] });
});

test('a signature is good once', async () => {
  const task = await bound();
  const raw = { sign: { nonce: randomBytes(16).toString('hex') } };

  const first = await call(task, raw);
  const second = await call(task, raw);

  expect([first.status, first.json.code]).toEqual([404, 'not_found']);
  expect([second.status, second.json.code]).toEqual([403, 'bad_signature']);
});

test('health needs no signature and says nothing but id and state', async () => {
  const task = await startTask(runtime);
  const answer = await new Promise<string>((resolve) => {
    request({ host: task.sandbox.host, port: task.sandbox.port, path: '/v1/health' }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve(text);
    }).end();
  });

  expect(JSON.parse(answer)).toEqual({ sandbox_id: task.sandbox.sandbox_id, state: 'ready' });
});

test('a sandbox belongs to one run', async () => {
  const task = await bound();
  const again = { run_id: task.sandbox.run_id, manifest_digest: MANIFEST_DIGEST };

  await client.bind(task.sandbox, again);

  await expect(
    client.bind(task.sandbox, { ...again, manifest_digest: `sha256:${'b'.repeat(64)}` }),
  ).rejects.toMatchObject({
    code: 'bound_to_another',
  });
  const other = ids.next();
  const foreign = client.bind({ ...task.sandbox, run_id: other }, { ...again, run_id: other });
  await expect(foreign).rejects.toMatchObject({ code: 'bad_signature' });
});

test('before it is bound a sandbox takes nothing, before it is sealed it runs nothing', async () => {
  const unbound = await startTask(runtime);
  const { bytes, digest } = packageOf({ 'SKILL.md': 'x' });

  await expect(client.putPackage(unbound.sandbox, 'demo', digest, bytes)).rejects.toMatchObject({
    code: 'not_bound',
  });

  const unsealed = await bound();
  await expect(run(unsealed, {})).rejects.toMatchObject({ code: 'not_sealed' });
  await expect(client.listOutputs(unsealed.sandbox)).rejects.toMatchObject({ code: 'not_found' });
});

test('uploads can be repeated, not replaced, and end with the seal', async () => {
  const task = await bound();
  const one = packageOf({ 'SKILL.md': 'one' });
  const two = packageOf({ 'SKILL.md': 'two' });
  await client.putPackage(task.sandbox, 'demo', one.digest, one.bytes);
  await client.putPackage(task.sandbox, 'demo', one.digest, one.bytes);
  await client.putInput(task.sandbox, 'a/b.bin', sha256Hex('in'), Buffer.from('in'));
  await client.putInput(task.sandbox, 'a/b.bin', sha256Hex('in'), Buffer.from('in'));

  const replaced = client.putPackage(task.sandbox, 'demo', two.digest, two.bytes);
  await expect(replaced).rejects.toMatchObject({ code: 'exists_with_other_content' });
  const input = client.putInput(task.sandbox, 'a/b.bin', sha256Hex('x'), Buffer.from('x'));
  await expect(input).rejects.toMatchObject({ code: 'exists_with_other_content' });
  const seal = {
    packages: [{ name: 'demo', digest: one.digest }],
    inputs: [{ path: 'a/b.bin', sha256: sha256Hex('in') }],
  };
  expect(await client.seal(task.sandbox, seal)).toEqual(seal);
  expect(await client.seal(task.sandbox, seal)).toEqual(seal);
  await expect(client.seal(task.sandbox, { ...seal, inputs: [] })).rejects.toMatchObject({ code: 'sealed' });
  await expect(client.putPackage(task.sandbox, 'late', two.digest, two.bytes)).rejects.toMatchObject({
    code: 'sealed',
  });
  await expect(client.putInput(task.sandbox, 'late', sha256Hex('x'), Buffer.from('x'))).rejects.toMatchObject(
    { code: 'sealed' },
  );
});

test.each([
  [
    'a missing package',
    (digest: string) => ({
      packages: [
        { name: 'demo', digest },
        { name: 'other', digest },
      ],
      inputs: [],
    }),
  ],
  ['an extra package', () => ({ packages: [], inputs: [] })],
  ['another digest', () => ({ packages: [{ name: 'demo', digest: MANIFEST_DIGEST }], inputs: [] })],
  [
    'a missing input',
    (digest: string) => ({
      packages: [{ name: 'demo', digest }],
      inputs: [{ path: 'x', sha256: 'a'.repeat(64) }],
    }),
  ],
])('%s at the seal leaves a dead sandbox in which nothing runs', async (_, sealOf) => {
  const task = await bound();
  const { bytes, digest } = packageOf({ 'SKILL.md': 'x' });
  await client.putPackage(task.sandbox, 'demo', digest, bytes);

  await expect(client.seal(task.sandbox, sealOf(digest))).rejects.toMatchObject({ code: 'digest_mismatch' });

  await expect(run(task, {})).rejects.toMatchObject({ code: 'digest_mismatch' });
  await expect(
    client.seal(task.sandbox, { packages: [{ name: 'demo', digest }], inputs: [] }),
  ).rejects.toMatchObject({ code: 'digest_mismatch' });
});

const frame = (files: [path: string, content: string][]): Buffer =>
  Buffer.concat([
    Buffer.from('CSKPKG1\n'),
    ...files.flatMap(([path, content]) => {
      const header = Buffer.alloc(4);
      header.writeUInt32BE(Buffer.byteLength(path));
      const length = Buffer.alloc(8);
      length.writeBigUInt64BE(BigInt(Buffer.byteLength(content)));
      return [header, Buffer.from(path), length, Buffer.from(content)];
    }),
  ]);

test.each([
  ['..', frame([['../../etc/passwd', 'x']])],
  ['a .. inside', frame([['a/../../../x', 'x']])],
  ['an absolute path', frame([['/etc/passwd', 'x']])],
  ['an empty segment', frame([['a//b', 'x']])],
  ['a dot', frame([['./a', 'x']])],
  ['a NUL', frame([['a\0b', 'x']])],
  ['a backslash', frame([['..\\x', 'x']])],
  ['a long segment', frame([['a'.repeat(256), 'x']])],
  [
    'a file that is a folder too',
    frame([
      ['a', 'x'],
      ['a/b', 'x'],
    ]),
  ],
  [
    'a duplicate',
    frame([
      ['a', 'x'],
      ['a', 'y'],
    ]),
  ],
  [
    'the wrong order',
    frame([
      ['b', 'x'],
      ['a', 'y'],
    ]),
  ],
  ['trailing bytes', Buffer.concat([frame([['a', 'x']]), Buffer.from('x')])],
  ['a lying length', frame([['a', 'xyz']]).subarray(0, -1)],
  ['no magic', Buffer.from('PK\x03\x04')],
])('a package with %s is refused and leaves nothing', async (_, bytes) => {
  const task = await bound();
  const digest = packageDigest(bytes);

  await expect(client.putPackage(task.sandbox, 'demo', digest, bytes)).rejects.toMatchObject({
    code: 'bad_request',
  });

  await client.seal(task.sandbox, { packages: [], inputs: [] });
  expect((await run(task, { command: { argv: ['ls', '/skills'] } })).stdout).toBe('');
});

test.each(['../x', '/x', 'a/../../x', '', 'a//b', '.', 'a\0'])('input path %j is refused', async (path) => {
  const task = await bound();

  const put = client.putInput(task.sandbox, path, sha256Hex('x'), Buffer.from('x'));

  await expect(put).rejects.toMatchObject({ code: 'bad_request' });
});

test('files arrive byte for byte, read-only, executable only with #!', async () => {
  const files = {
    'SKILL.md': '\ufeffa\r\nb\0',
    empty: '',
    run: '#!/bin/sh\n',
    'd/é/🙂.txt': 'x',
    constructor: 'c',
    ['__proto__']: 'p',
  };
  const map = new Map([...Object.entries(files), ['__proto__', 'p'] as const]);
  const bytes = encodePackage(map);
  const task = await bound();
  await client.putPackage(task.sandbox, 'demo', packageDigest(bytes), bytes);
  await client.putInput(task.sandbox, 'in', sha256Hex('#!x'), Buffer.from('#!x'));
  await client.seal(task.sandbox, {
    packages: [{ name: 'demo', digest: packageDigest(bytes) }],
    inputs: [{ path: 'in', sha256: sha256Hex('#!x') }],
  });

  const { stdout } = await run(task, {
    command: {
      argv: [
        'sh',
        '-c',
        'cd /skills/demo; find . -printf "%m %p %s\\n" | sort; stat -c "%a" /workspace/inputs /workspace/inputs/in; sha256sum SKILL.md',
      ],
    },
  });

  expect(stdout.split('\n')).toEqual(
    [
      '444 ./SKILL.md 8',
      '444 ./__proto__ 1',
      '444 ./constructor 1',
      '444 ./d/é/🙂.txt 1',
      '444 ./empty 0',
      '555 . ',
      '555 ./d ',
      '555 ./d/é ',
      '555 ./run 10',
    ]
      .map((line) => expect.stringMatching(new RegExp(`^${line.replaceAll('.', '\\.')}`)))
      .concat(['555', '444', `${sha256Hex('\ufeffa\r\nb\0')}  SKILL.md`, '']),
  );
});

test('a package that does not fit is storage_full and leaves nothing', async () => {
  const { profileOf } = await import('../support/sandboxd-task.ts');
  const task = await startTask(runtime, profileOf({ workspace_bytes: 1024 * 1024 }));
  await client.bind(task.sandbox, { run_id: task.sandbox.run_id, manifest_digest: MANIFEST_DIGEST });
  const large = Buffer.alloc(2 * 1024 * 1024);

  const put = client.putInput(task.sandbox, 'large', sha256Hex(large), large);

  await expect(put).rejects.toMatchObject({ code: 'storage_full' });
  await client.seal(task.sandbox, { packages: [], inputs: [] });
});

test('a body over the limit is refused', async () => {
  const task = await bound();
  const large = Buffer.alloc(17 * 1024 * 1024);

  await expect(client.putPackage(task.sandbox, 'demo', packageDigest(large), large)).rejects.toMatchObject({
    code: expect.stringMatching(/too_large|protocol/),
  });
});

test('an upload that breaks off leaves a sandbox that still can be filled', async () => {
  const task = await bound();
  const { bytes, digest } = packageOf({ 'SKILL.md': 'x'.repeat(100_000) });
  await new Promise<void>((resolve) => {
    const outgoing = request({
      host: task.sandbox.host,
      port: task.sandbox.port,
      method: 'PUT',
      path: '/v1/packages/demo',
      headers: { 'content-length': bytes.length },
    });
    outgoing.once('error', () => resolve());
    outgoing.once('close', () => resolve());
    outgoing.write(bytes.subarray(0, 100));
    setTimeout(() => outgoing.destroy(), 50);
  });

  await client.putPackage(task.sandbox, 'demo', digest, bytes);

  await client.seal(task.sandbox, { packages: [{ name: 'demo', digest }], inputs: [] });
});

test('unknown routes and malformed bodies are refused with a code', async () => {
  const task = await bound();
  const bad = (raw: RawCall) => call(task, raw).then(({ status, json }) => [status, json.code]);

  expect(await bad({ target: '/v1/nothing' })).toEqual([404, 'not_found']);
  expect(await bad({ method: 'POST', target: '/v1/seal', body: '{' })).toEqual([400, 'bad_request']);
  expect(
    await bad({ method: 'POST', target: '/v1/seal', body: '{"packages":[],"inputs":[],"x":1}' }),
  ).toEqual([400, 'bad_request']);
  expect(await bad({ method: 'PUT', target: '/v1/packages/..%2f', body: 'x' })).toEqual([400, 'bad_request']);
  expect(await bad({ method: 'PUT', target: '/v1/exec/x', body: '{}' })).toEqual([400, 'bad_request']);
});
