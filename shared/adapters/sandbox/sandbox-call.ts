/**
 * One HTTP exchange with a daemon that may lie: no redirects, no decompression, every byte capped, one
 * deadline over all of it, so that a slow drip ends as surely as silence.
 */
import { type Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { TransientError } from '../../domain/transient-error.ts';
import { SandboxRefused } from '../../ports/sandbox-client.ts';

const HEADER_BYTES = 8 * 1024;
/** A body in chunks of one byte costs its reader a thousand times what it costs its writer. */
const PIECES = 4_096;
const PIECE_BYTES = 256;
/** Interim answers (1xx); the protocol has none. */
const INTERIM_ANSWERS = 2;

export interface SandboxCall {
  readonly agent: Agent;
  readonly host: string;
  readonly port: number;
  readonly method: 'GET' | 'PUT' | 'POST';
  readonly target: string;
  /** Asked for at every attempt: a signature is used once. */
  readonly headers: () => Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Of the answer's body. */
  readonly max_bytes: number;
  readonly deadline_ms: number;
}

export interface SandboxAnswer {
  readonly status: number;
  readonly bytes: Buffer;
}

/** @throws TransientError when there was no whole answer; SandboxRefused `protocol` for what is no answer. */
export async function callSandbox(call: SandboxCall): Promise<SandboxAnswer> {
  const first = await attempt(call);
  // An idle connection was closed at the moment it was used again. Every call is idempotent: once more on a new one.
  const answer = first === 'stale-connection' ? await attempt(call) : first;
  if (answer === 'stale-connection') throw new TransientError(`${where(call)} closed the connection`);
  return answer;
}

const where = (call: SandboxCall): string =>
  `the sandbox daemon at ${call.host}:${call.port} (${call.method} ${call.target.split('?')[0]})`;

const refused = (call: SandboxCall, what: string, cause?: unknown): SandboxRefused =>
  new SandboxRefused('protocol', `${where(call)} ${what}`, { cause });

function attempt(call: SandboxCall): Promise<SandboxAnswer | 'stale-connection'> {
  return new Promise((resolve, reject) => {
    const outgoing = send(call);
    let answered = false;
    const fail = (error: unknown): void => {
      clearTimeout(timer);
      reject(error);
      outgoing.destroy();
    };
    const timer = setTimeout(
      () => fail(new TransientError(`${where(call)} did not answer within ${call.deadline_ms} ms`)),
      call.deadline_ms,
    );
    let interim = 0;
    outgoing.on('information', () => {
      interim += 1;
      if (interim > INTERIM_ANSWERS) fail(refused(call, 'sends interim answers without end'));
    });
    outgoing.once('response', (response) => {
      answered = true;
      readAnswer(call, response).then((answer) => {
        clearTimeout(timer);
        resolve(answer);
      }, fail);
    });
    outgoing.on('error', (error) => {
      // After the answer began, only what the parser says of it counts: an upload that was cut short may be answered.
      if (answered && !isParserError(codeOf(error))) return;
      if (outgoing.reusedSocket && codeOf(error) === 'ECONNRESET') {
        clearTimeout(timer);
        resolve('stale-connection');
      } else fail(failure(call, error));
    });
  });
}

function send(call: SandboxCall): ClientRequest {
  const outgoing = request({
    agent: call.agent,
    host: call.host,
    port: call.port,
    method: call.method,
    path: call.target,
    headers: {
      ...call.headers(),
      'accept-encoding': 'identity',
      ...(call.method === 'GET' ? {} : { 'content-length': call.body?.length ?? 0 }),
    },
    maxHeaderSize: HEADER_BYTES,
    insecureHTTPParser: false,
  });
  outgoing.end(call.body);
  return outgoing;
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** Complaints about bytes that came; an end that came too early is about bytes that did not. */
const isParserError = (code: string): boolean => code.startsWith('HPE_') && code !== 'HPE_INVALID_EOF_STATE';

function failure(call: SandboxCall, cause: unknown): Error {
  const code = codeOf(cause);
  if (isParserError(code)) {
    return refused(call, `answered with something that is not HTTP (${code})`, cause);
  }
  return new TransientError(`${where(call)} did not answer: ${code === '' ? String(cause) : code}`, cause);
}

async function readAnswer(call: SandboxCall, response: IncomingMessage): Promise<SandboxAnswer> {
  const status = response.statusCode ?? 0;
  if (status >= 300 && status < 400) throw refused(call, `answered with a redirect (${status})`);
  const encoding = response.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw refused(call, 'answered with a compressed body');
  }
  const declared = response.headers['content-length'];
  const tooLong = `answered with more than ${call.max_bytes} bytes`;
  if (declared !== undefined && Number(declared) > call.max_bytes) throw refused(call, tooLong);
  const body = await readBody(call, response, tooLong);
  if (declared !== undefined && Number(declared) !== body.length) {
    throw refused(call, `declared ${declared} bytes and sent ${body.length}`);
  }
  return { status, bytes: body };
}

function readBody(call: SandboxCall, response: IncomingMessage, tooLong: string): Promise<Buffer> {
  const body = new GrowingBuffer();
  let pieces = 0;
  return new Promise((resolve, reject) => {
    response.on('data', (chunk: Buffer) => {
      pieces += 1;
      if (body.length + chunk.length > call.max_bytes) reject(refused(call, tooLong));
      else if (pieces > PIECES + body.length / PIECE_BYTES) reject(refused(call, 'answered in crumbs'));
      else body.append(chunk);
    });
    response.once('error', (cause) => reject(failure(call, cause)));
    response.once('end', () => resolve(body.bytes()));
  });
}

/** A list of chunks would cost a hundred bytes for each one-byte chunk of a hostile answer. */
class GrowingBuffer {
  length = 0;
  #buffer = Buffer.alloc(0);

  append(chunk: Buffer): void {
    const needed = this.length + chunk.length;
    if (needed > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#buffer.length, 1_024));
      this.#buffer.copy(larger, 0, 0, this.length);
      this.#buffer = larger;
    }
    chunk.copy(this.#buffer, this.length);
    this.length = needed;
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.length);
  }
}
