import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttpSandboxClient } from '../../shared/adapters/sandbox/http-sandbox-client.ts';
import { newSandboxKeyPair } from '../../shared/domain/daemon-signature.ts';
import { sha256Hex } from '../../shared/domain/sha256.ts';
import { TransientError } from '../../shared/domain/transient-error.ts';
import { SandboxRefused } from '../../shared/ports/sandbox-client.ts';
import {
  answerJson,
  type FakeAnswer,
  type FakeDaemon,
  jsonAnswer,
  rawAnswer,
  startFakeDaemon,
} from '../support/fake-daemon.ts';
import { systemTestClock, testIds } from '../support/sandbox-test-ports.ts';

const MiB = 1_024 * 1_024;
const { private_key } = newSandboxKeyPair();
const ids = testIds();
const client = createHttpSandboxClient({
  clock: systemTestClock(),
  ids,
  timeouts: { call_ms: 300, transfer_ms: 300 },
});

let daemon: FakeDaemon;
const sandbox = () => ({
  sandbox_id: '01J00000000000000000000000',
  run_id: '01J00000000000000000000001',
  host: daemon.host,
  port: daemon.port,
  private_key,
});
const outcome = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'accepted',
    (error: unknown) => {
      if (error instanceof SandboxRefused) return `refused: ${error.code}`;
      return error instanceof TransientError ? 'transient' : error;
    },
  );
const list = () => outcome(client.listOutputs(sandbox()));
const get = (max = MiB) => outcome(client.getOutput(sandbox(), 'a', max));
const raw =
  (status: string, headers: string[], body: Uint8Array | string = ''): FakeAnswer =>
  (socket) =>
    void socket.write(rawAnswer(status, headers, body));

/** Writes for as long as the other side takes it. */
function flood(socket: Socket, head: string, chunk: string): void {
  socket.write(head);
  const more = (): void => {
    while (!socket.destroyed && socket.write(chunk)) {}
  };
  socket.on('drain', more);
  more();
}

beforeEach(async () => {
  daemon = await startFakeDaemon();
});
afterEach(async () => {
  await daemon.close();
});

describe('answers that are not of the protocol are refused', () => {
  it.each<[string, FakeAnswer]>([
    ['a redirect', raw('302 Found', ['location: http://169.254.169.254/', 'content-length: 0'])],
    ['a redirect that keeps the method', raw('307 Temporary Redirect', ['location: /', 'content-length: 0'])],
    ['not modified', raw('304 Not Modified', [])],
    [
      'a gzip bomb',
      raw(
        '200 OK',
        ['content-encoding: gzip', 'transfer-encoding: chunked'],
        gzipSync(Buffer.alloc(20 * MiB)),
      ),
    ],
    ['an unknown success', raw('203 Fine', ['content-length: 2'], '{}')],
    ['an error without words', raw('500 Oops', ['content-length: 0'])],
    ['an error of another status', answerJson({ code: 'sealed', message: 'x' }, '404 Not Found')],
    [
      'an error code that is a property of every object',
      answerJson({ code: 'constructor', message: 'x' }, '400 Bad'),
    ],
    ['an error of 15 MB', raw('400 Bad', ['content-length: 15000000'], 'x')],
    ['no JSON', raw('200 OK', ['content-length: 4'], 'null')],
    ['broken JSON', raw('200 OK', ['content-length: 1'], '{')],
    ['JSON of another shape', answerJson({ files: 'all', refused: [], truncated: false })],
    ['deep JSON', raw('200 OK', ['content-length: 1000000'], '['.repeat(1_000_000))],
    ['declared hugeness', raw('200 OK', ['content-length: 99999999999'], '{')],
    ['two lengths', raw('200 OK', ['content-length: 2', 'content-length: 3'], '{}')],
    [
      'length and chunks at once',
      raw('200 OK', ['content-length: 2', 'transfer-encoding: chunked'], '2\r\n{}\r\n0\r\n\r\n'),
    ],
    ['garbage instead of HTTP', (socket) => void socket.write('SSH-2.0-OpenSSH\r\n\r\n')],
    ['a bad chunk size', raw('200 OK', ['transfer-encoding: chunked'], 'zz\r\n')],
    ['a header beyond the cap', raw('200 OK', [`x: ${'y'.repeat(20_000)}`, 'content-length: 2'], '{}')],
    ['headers without end', (socket) => flood(socket, 'HTTP/1.1 200 OK\r\n', 'x: y\r\n'.repeat(10_000))],
    ['a body without end', (socket) => flood(socket, 'HTTP/1.1 200 OK\r\n\r\n', 'x'.repeat(65_536))],
    [
      'one-byte chunks without end',
      (socket) =>
        flood(socket, 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', '1\r\nx\r\n'.repeat(5_000)),
    ],
    [
      'interim answers without end',
      (socket) => flood(socket, '', 'HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n'.repeat(100)),
    ],
    [
      'trailers without end',
      (socket) =>
        flood(
          socket,
          'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n',
          'x: y\r\n'.repeat(10_000),
        ),
    ],
  ])('%s', async (_, answer) => {
    daemon.answer = answer;

    expect(await list()).toBe('refused: protocol');
  });

  it('asks nobody else after a redirect', async () => {
    const other = await startFakeDaemon();
    daemon.answer = raw('302 Found', [`location: http://127.0.0.1:${other.port}/`, 'content-length: 0']);

    await list();

    expect(other.connections()).toBe(0);
    await other.close();
  });
});

describe('an answer that does not come whole is transient', () => {
  it.each<[string, FakeAnswer]>([
    ['silence', () => undefined],
    ['a half status line', (socket) => void socket.end('HTTP/1.1 20')],
    ['half headers', (socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-le')],
    [
      'fewer bytes than declared',
      (socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}'),
    ],
    [
      'a missing last chunk',
      (socket) => void socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n'),
    ],
    ['a reset at once', (socket) => void socket.resetAndDestroy()],
    [
      'a reset within the body',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}');
        setTimeout(() => socket.resetAndDestroy(), 20);
      },
    ],
    [
      'a reset within the headers',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nx:');
        setTimeout(() => socket.resetAndDestroy(), 20);
      },
    ],
    [
      'a slow drip',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n');
        const drip = setInterval(() => socket.write(' '), 10);
        socket.on('close', () => clearInterval(drip));
      },
    ],
    [
      'headers that drip',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nx: ');
        const drip = setInterval(() => socket.write('y'), 10);
        socket.on('close', () => clearInterval(drip));
      },
    ],
    ['an upgrade', raw('101 Switching Protocols', ['connection: upgrade', 'upgrade: x'])],
  ])('%s', async (_, answer) => {
    daemon.answer = answer;

    expect(await list()).toBe('transient');
  });

  it('a connection that is reset before the request', async () => {
    daemon.onConnection = (socket) => void socket.resetAndDestroy();

    expect(await list()).toBe('transient');
  });

  it('a refused connection', async () => {
    await daemon.close();

    expect(await list()).toBe('transient');
  });

  it('a daemon that stops reading in the middle of an upload', async () => {
    daemon.onConnection = (socket) => void socket.pause();
    const bytes = Buffer.alloc(12 * MiB);

    const put = client.putInput(sandbox(), 'a', sha256Hex(bytes), bytes);

    expect(await outcome(put)).toBe('transient');
  });
});

describe('answers about something else', () => {
  const bytes = Buffer.from('hello');
  const digest = `sha256:${sha256Hex(bytes)}`;
  const other = `sha256:${sha256Hex('other')}`;

  it('a receipt for another package or input', async () => {
    daemon.answer = answerJson({ digest: other, file_count: 1 });
    const pkg = await outcome(client.putPackage(sandbox(), 'a', digest, bytes));
    daemon.answer = answerJson({ path: 'b', sha256: sha256Hex(bytes), size_bytes: 5 });
    const path = await outcome(client.putInput(sandbox(), 'a', sha256Hex(bytes), bytes));
    daemon.answer = answerJson({ path: 'a', sha256: sha256Hex('other'), size_bytes: 5 });
    const hash = await outcome(client.putInput(sandbox(), 'a', sha256Hex(bytes), bytes));

    expect([pkg, path, hash]).toEqual([
      'refused: digest_mismatch',
      'refused: protocol',
      'refused: digest_mismatch',
    ]);
  });

  it.each([
    ['a missing package', { packages: [], inputs: [] }],
    ['another digest', { packages: [{ name: 'a', digest: other }], inputs: [] }],
    [
      'one package too many',
      {
        packages: [
          { name: 'a', digest },
          { name: 'b', digest },
        ],
        inputs: [],
      },
    ],
    [
      'the same package twice',
      {
        packages: [
          { name: 'a', digest },
          { name: 'a', digest },
        ],
        inputs: [],
      },
    ],
    [
      'an input nobody gave',
      { packages: [{ name: 'a', digest }], inputs: [{ path: 'x', sha256: sha256Hex('') }] },
    ],
  ])('a seal with %s', async (_, receipt) => {
    daemon.answer = answerJson(receipt);

    const seal = client.seal(sandbox(), { packages: [{ name: 'a', digest }], inputs: [] });

    expect(await outcome(seal)).toBe('refused: digest_mismatch');
  });

  const exec_id = ids.next();
  const slice = { data: '', next_offset: 0, length: 0, truncated: false };
  const status = {
    exec_id,
    state: 'running',
    exit_code: null,
    signal: null,
    timed_out: false,
    stdout: slice,
    stderr: slice,
    egress_denied: [],
    egress_denied_total: 0,
  };
  it.each([
    ['of another command', { ...status, exec_id: ids.next() }],
    ['with an offset that goes back', { ...status, stdout: { ...slice, next_offset: -1 } }],
    ['with an offset that jumps', { ...status, stdout: { ...slice, next_offset: 9, length: 9 } }],
    [
      'with more data than a slice has',
      { ...status, stderr: { ...slice, data: 'A'.repeat(60_000), next_offset: 45_000, length: 45_000 } },
    ],
    [
      'with data that is not base64',
      { ...status, stdout: { ...slice, data: '!!!!', next_offset: 3, length: 3 } },
    ],
    ['with a stream longer than any cap', { ...status, stdout: { ...slice, length: 10 * MiB } }],
    ['with an exit code that is no number', { ...status, exit_code: '0' }],
  ])('a status %s', async (_, answer) => {
    daemon.answer = answerJson(answer);

    const asked = client.execStatus(sandbox(), exec_id, { wait_ms: 0, stdout_offset: 0, stderr_offset: 0 });

    expect(await outcome(asked)).toBe('refused: protocol');
  });

  it('an answer sent twice is not taken for the answer to the next call', async () => {
    const first = { digest, file_count: 1 };
    daemon.answer = (socket) => {
      socket.write(Buffer.concat([jsonAnswer(first), jsonAnswer(first)]));
      daemon.answer = answerJson({ digest: other, file_count: 1 });
    };
    await client.putPackage(sandbox(), 'a', digest, bytes);

    const second = await outcome(client.putPackage(sandbox(), 'b', other, Buffer.from('other')));

    expect(second).toBe('accepted');
    expect(daemon.connections()).toBe(2);
  });
});

describe('outputs', () => {
  it('are refused above the asked size, declared or not', async () => {
    daemon.answer = raw('200 OK', ['content-length: 11'], 'x'.repeat(11));
    const declared = await get(10);
    daemon.answer = (socket) => void socket.end(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(20_000)}`);
    const undeclared = await get(10);

    expect([declared, undeclared]).toEqual(['refused: protocol', 'refused: protocol']);
  });

  it('with a name that is no Unicode are not asked for', async () => {
    const result = await outcome(client.getOutput(sandbox(), 'a\ud800', 10));

    expect(result).toBe('refused: protocol');
    expect(daemon.requests).toEqual([]);
  });

  it('of nothing are taken', async () => {
    daemon.answer = raw('200 OK', ['content-length: 0']);

    expect(await get(0)).toBe('accepted');
  });
});
