import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttpSandboxClient } from '../../shared/adapters/sandbox/http-sandbox-client.ts';
import { SIGNATURE_HEADERS } from '../../shared/contracts/daemon.ts';
import { importPublicKey, newSandboxKeyPair, verifyCall } from '../../shared/domain/daemon-signature.ts';
import { sha256Hex } from '../../shared/domain/sha256.ts';
import { answerJson, type FakeDaemon, type SeenRequest, startFakeDaemon } from '../support/fake-daemon.ts';
import { systemTestClock, testIds } from '../support/sandbox-test-ports.ts';

const ids = testIds();
const keys = newSandboxKeyPair();
const hex = (text: string): string => sha256Hex(text);

const slice = (data: string, offset = 0) => ({
  data: Buffer.from(data).toString('base64'),
  next_offset: offset + Buffer.byteLength(data),
  length: offset + Buffer.byteLength(data),
  truncated: false,
});
const execStatus = (exec_id: string) => ({
  exec_id,
  state: 'exited',
  exit_code: 0,
  signal: null,
  timed_out: false,
  stdout: slice('out'),
  stderr: slice('', 7),
  egress_denied: [],
  egress_denied_total: 0,
});

let daemon: FakeDaemon;
const client = createHttpSandboxClient({ clock: systemTestClock(), ids });
const sandbox = () => ({
  sandbox_id: '01J00000000000000000000000',
  run_id: '01J00000000000000000000001',
  host: daemon.host,
  port: daemon.port,
  private_key: keys.private_key,
});

beforeEach(async () => {
  daemon = await startFakeDaemon();
});
afterEach(async () => {
  await daemon.close();
});

function signatureHolds(request: SeenRequest | undefined): boolean {
  const header = (name: string): string => request?.headers[name] ?? '';
  const call = {
    method: request?.method ?? '',
    target: request?.target ?? '',
    content_sha256: header(SIGNATURE_HEADERS.contentSha256),
    sandbox_id: header(SIGNATURE_HEADERS.sandbox),
    run_id: header(SIGNATURE_HEADERS.run),
    nonce: header(SIGNATURE_HEADERS.nonce),
    expires: header(SIGNATURE_HEADERS.expires),
  };
  return (
    call.content_sha256 === sha256Hex(request?.body ?? '') &&
    verifyCall(call, header(SIGNATURE_HEADERS.signature), importPublicKey(keys.public_key))
  );
}

describe('the calls of the sandbox client', () => {
  it('signs each call over method, target, body, sandbox and run, with a nonce of its own', async () => {
    const bytes = Buffer.from('CSKPKG1\n');
    const digest = `sha256:${sha256Hex(bytes)}`;
    daemon.answer = (socket, request) =>
      answerJson(request.target === '/v1/bind' ? {} : { digest, file_count: 0 })(socket, request);

    await client.bind(sandbox(), { run_id: sandbox().run_id, manifest_digest: digest });
    await client.putPackage(sandbox(), 'tickets', digest, bytes);

    const [bind, put] = daemon.requests;
    expect([bind, put].map(signatureHolds)).toEqual([true, true]);
    expect(put).toMatchObject({ method: 'PUT', target: '/v1/packages/tickets', body: bytes });
    expect(bind?.headers[SIGNATURE_HEADERS.nonce]).not.toBe(put?.headers[SIGNATURE_HEADERS.nonce]);
  });

  it('lets a signature expire soon after the deadline of its call', async () => {
    const before = Math.floor(Date.now() / 1_000);

    await client.bind(sandbox(), { run_id: sandbox().run_id, manifest_digest: `sha256:${hex('')}` });

    const expires = Number(daemon.requests[0]?.headers[SIGNATURE_HEADERS.expires]);
    expect(expires).toBeGreaterThan(before);
    expect(expires).toBeLessThanOrEqual(before + 60);
  });

  it('uses one connection for calls that follow each other', async () => {
    const request = { run_id: sandbox().run_id, manifest_digest: `sha256:${hex('')}` };

    for (let call = 0; call < 3; call += 1) await client.bind(sandbox(), request);

    expect(daemon.connections()).toBe(1);
  });

  it('gives back what the daemon said about seal, command and outputs', async () => {
    const exec_id = ids.next();
    const seal = {
      packages: [
        { name: 'a', digest: `sha256:${hex('a')}` },
        { name: 'b', digest: `sha256:${hex('b')}` },
      ],
      inputs: [{ path: 'in.json', sha256: hex('in') }],
    };
    const outputs = { files: [{ path: 'r.json', size_bytes: 2 }], refused: [], truncated: false };
    daemon.answer = (socket, request) => {
      const reversed = { ...seal, packages: [...seal.packages].reverse() };
      const answers = new Map<string, unknown>([
        ['/v1/seal', reversed],
        [`/v1/exec/${exec_id}?wait_ms=5&stdout_offset=0&stderr_offset=7`, execStatus(exec_id)],
        ['/v1/outputs', outputs],
      ]);
      answerJson(answers.get(request.target))(socket, request);
    };

    const sealed = await client.seal(sandbox(), seal);
    const status = await client.execStatus(sandbox(), exec_id, {
      wait_ms: 5,
      stdout_offset: 0,
      stderr_offset: 7,
    });

    expect(sealed.packages).toHaveLength(2);
    expect(status).toEqual(execStatus(exec_id));
    expect(await client.listOutputs(sandbox())).toEqual(outputs);
  });

  it('carries any name in a URL, and takes exactly the bytes of an output', async () => {
    const path = 'a b/ä&?#%/☕.bin';
    daemon.answer = (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc');

    const bytes = await client.getOutput(sandbox(), path, 3);

    expect(bytes.toString()).toBe('abc');
    const url = new URL(daemon.requests[0]?.target ?? '', 'http://sandbox');
    expect(url.searchParams.get('path')).toBe(path);
    expect(signatureHolds(daemon.requests[0])).toBe(true);
  });

  it('takes the error codes of the protocol, with their words made harmless', async () => {
    daemon.answer = answerJson(
      { code: 'sealed', message: `no\u001b[31m\n${'x'.repeat(5_000)}` },
      '409 Conflict',
    );

    const call = client.exec(sandbox(), ids.next(), {
      command: { argv: ['true'] },
      env: {},
      timeout_ms: 1_000,
      stream_bytes: 1_024,
    });

    const error = await call.catch((cause: unknown) => cause);
    expect(error).toMatchObject({ name: 'SandboxRefused', code: 'sealed' });
    const { message } = error as Error;
    expect(message.length).toBeLessThan(700);
    expect(/\p{Cc}/u.test(message)).toBe(false);
  });

  it('asks once more, signed anew, when an idle connection was closed under it', async () => {
    const request = { run_id: sandbox().run_id, manifest_digest: `sha256:${hex('')}` };
    await client.bind(sandbox(), request);
    const honest = daemon.answer;
    daemon.answer = (socket, seen) => {
      daemon.answer = honest;
      if (seen.connection === 1) socket.resetAndDestroy();
      else honest(socket, seen);
    };

    await client.bind(sandbox(), request);

    const nonces = daemon.requests.map((seen) => seen.headers[SIGNATURE_HEADERS.nonce]);
    expect(new Set(nonces).size).toBe(3);
    expect(daemon.connections()).toBe(2);
  });

  it('knows a healthy daemon from a silent, absent or lying one, and from another sandbox’s', async () => {
    daemon.answer = answerJson({ sandbox_id: sandbox().sandbox_id, state: 'ready' });
    const healthy = await client.healthy(sandbox(), 1_000);
    const another = await client.healthy({ ...sandbox(), sandbox_id: 'ANOTHER' }, 1_000);
    daemon.answer = () => undefined;
    const silent = await client.healthy(sandbox(), 50);
    daemon.answer = answerJson({ fine: true });
    const lying = await client.healthy(sandbox(), 1_000);
    const absent = await client.healthy({ ...sandbox(), port: 1 }, 1_000);

    expect({ healthy, another, silent, lying, absent }).toEqual({
      healthy: true,
      another: false,
      silent: false,
      lying: false,
      absent: false,
    });
  });
});
