/** From an HTTP request to a call on the sandbox and back. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { bindRequestSchema, execRequestSchema, sealRequestSchema } from '../../shared/contracts/daemon.ts';
import { LIMITS } from '../../shared/contracts/limits.ts';
import { idSchema, nameSchema } from '../../shared/contracts/names.ts';
import type { SignedCall } from '../../shared/domain/daemon-signature.ts';
import type { CallAuthorizer } from './authorize-call.ts';
import { DaemonError } from './daemon-error.ts';
import type { Sandbox } from './sandbox.ts';

/** Above the largest exec request: stdin in base64, arguments and variables, as JSON. */
const JSON_BYTES = 8 * 1024 * 1024;
const WAIT_MS_MAX = 30_000;

type Answer =
  | { readonly json: unknown; readonly status?: number }
  | { readonly file: number; readonly size: number };

interface Call {
  readonly signed: SignedCall;
  readonly query: URLSearchParams;
  /** @throws DaemonError when the body is longer, or not what was signed. */
  body(limit: number): Promise<Buffer>;
  /** The same, piece by piece; what the pieces are worth is known when this has resolved. */
  receive(limit: number, onChunk: (chunk: Buffer) => void): Promise<void>;
  json(): Promise<unknown>;
}

export interface HandlerOptions {
  readonly sandbox_id: string;
  readonly sandbox: Sandbox;
  readonly authorizer: CallAuthorizer;
  log(message: string): void;
}

export function createRequestHandler(
  options: HandlerOptions,
): (request: IncomingMessage, response: ServerResponse) => void {
  const { sandbox, authorizer } = options;
  const answer = async (request: IncomingMessage): Promise<Answer> => {
    const method = request.method ?? '';
    const target = request.url ?? '';
    const [path = '', search = ''] = splitOnce(target, '?');
    if (method === 'GET' && path === '/v1/health') {
      return { json: { sandbox_id: options.sandbox_id, state: sandbox.state() } };
    }
    const header = (name: string): string | undefined => {
      const value = request.headers[name];
      return typeof value === 'string' ? value : undefined;
    };
    const signed = authorizer.authorize({ method, target, header }, sandbox.runId());
    const body = (limit: number): Promise<Buffer> => readBody(request, signed.content_sha256, limit);
    const receive: Call['receive'] = (limit, onChunk) =>
      receiveBody(request, signed.content_sha256, limit, onChunk);
    const json = async (): Promise<unknown> => parseJson(await body(JSON_BYTES));
    return await route(sandbox, method, path, {
      signed,
      query: new URLSearchParams(search),
      body,
      receive,
      json,
    });
  };
  return (request, response) => {
    // A caller that has gone away is nobody's error.
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    answer(request).then(
      (result) => send(response, result),
      (error: unknown) => sendError(options, response, error),
    );
  };
}

async function route(sandbox: Sandbox, method: string, path: string, call: Call): Promise<Answer> {
  const [, version, resource = '', name, extra] = path.split('/');
  if (version !== 'v1' || extra !== undefined) throw noRoute(method, path);
  switch (`${method} ${resource}${name === undefined ? '' : '/*'}`) {
    case 'POST bind':
      return await bind(sandbox, call);
    case 'PUT packages/*':
      return await putPackage(sandbox, named(nameSchema, name, 'the skill in the path'), call);
    case 'PUT inputs': {
      const bytes = await call.body(LIMITS.inputBytes);
      return { json: sandbox.putInput(call.query.get('path') ?? '', call.signed.content_sha256, bytes) };
    }
    case 'POST seal':
      return { json: sandbox.seal(parsed(sealRequestSchema, await call.json())) };
    case 'PUT exec/*': {
      const execId = named(idSchema, name, 'the exec id in the path');
      await sandbox.exec(execId, parsed(execRequestSchema, await call.json()));
      return { json: { exec_id: execId }, status: 202 };
    }
    case 'GET exec/*':
      return {
        json: await sandbox.execStatus(
          named(idSchema, name, 'the exec id in the path'),
          await statusQuery(call),
        ),
      };
    case 'GET outputs':
      await call.body(0);
      return { json: sandbox.listOutputs() };
    case 'GET outputs/*': {
      if (name !== 'content') throw noRoute(method, path);
      await call.body(0);
      const { descriptor, size } = sandbox.openOutput(call.query.get('path') ?? '');
      return { file: descriptor, size };
    }
    default:
      throw noRoute(method, path);
  }
}

async function bind(sandbox: Sandbox, call: Call): Promise<Answer> {
  const request = parsed(bindRequestSchema, await call.json());
  if (request.run_id !== call.signed.run_id) {
    throw new DaemonError('bad_request', 'the run of the body is not the run that was signed');
  }
  sandbox.bind(request);
  return { json: { run_id: request.run_id } };
}

async function putPackage(sandbox: Sandbox, name: string, call: Call): Promise<Answer> {
  const upload = sandbox.startPackage(name, `sha256:${call.signed.content_sha256}`);
  try {
    await call.receive(LIMITS.packageBytes, upload.write);
    return { json: upload.finish() };
  } catch (error) {
    upload.discard();
    throw error;
  }
}

async function statusQuery(call: Call): Promise<Parameters<Sandbox['execStatus']>[1]> {
  await call.body(0);
  const number = (key: string): number => {
    const text = call.query.get(key) ?? '0';
    if (!/^\d{1,9}$/.test(text)) throw new DaemonError('bad_request', `${key} is not a number`);
    return Number(text);
  };
  return {
    wait_ms: Math.min(number('wait_ms'), WAIT_MS_MAX),
    stdout_offset: number('stdout_offset'),
    stderr_offset: number('stderr_offset'),
  };
}

/**
 * Reads a body to its end and holds it to what was signed.
 * @param onChunk may throw; the rest is read and dropped then, so that the connection can be used again.
 */
function receiveBody(
  request: IncomingMessage,
  sha256: string,
  limit: number,
  onChunk: (chunk: Buffer) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const declared = Number(request.headers['content-length'] ?? 0);
    if (!(declared <= limit)) throw new DaemonError('too_large', `the body has over ${limit} bytes`);
    const hash = createHash('sha256');
    let length = 0;
    let failed = false;
    const fail = (error: unknown): void => {
      failed = true;
      reject(error);
    };
    // Listeners, because an iterator would join what has come in meanwhile, and copy it all once more.
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (failed || length > declared) return;
      hash.update(chunk);
      try {
        onChunk(chunk);
      } catch (error) {
        fail(error);
      }
    });
    request.once('end', () => {
      if (length === declared && hash.digest('hex') === sha256) return resolve();
      const message = 'this call is not authorized: its body is not what was signed';
      return fail(new DaemonError('bad_signature', message));
    });
    request.once('error', fail);
    request.once('close', () => fail(new DaemonError('bad_request', 'the body broke off')));
  });
}

async function readBody(request: IncomingMessage, sha256: string, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  await receiveBody(request, sha256, limit, (chunk) => chunks.push(chunk));
  return Buffer.concat(chunks);
}

interface Parser<T> {
  safeParse(
    value: unknown,
  ):
    | { success: true; data: T }
    | { success: false; error: { issues: readonly { path: readonly PropertyKey[]; message: string }[] } };
}

function parsed<T>(schema: Parser<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw new DaemonError(
    'bad_request',
    `${issue?.path.map(String).join('.') ?? ''}: ${issue?.message ?? 'is not valid'}`,
  );
}

function named(schema: Parser<string>, value: string | undefined, what: string): string {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new DaemonError('bad_request', `${what} is not valid`);
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw new DaemonError('bad_request', 'the body is not JSON', { cause });
  }
}

const noRoute = (method: string, path: string): DaemonError =>
  new DaemonError('not_found', `there is no ${method} ${path.slice(0, 128)}`);

const splitOnce = (text: string, separator: string): string[] => {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
};

function send(response: ServerResponse, answer: Answer): void {
  if ('json' in answer) {
    sendJson(response, answer.status ?? 200, answer.json);
    return;
  }
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': answer.size });
  // No more than was announced, even if the file had grown.
  const file = createReadStream('', { fd: answer.file, start: 0, end: Math.max(0, answer.size - 1) });
  if (answer.size === 0) {
    file.destroy();
    response.end();
    return;
  }
  file.on('error', (error) => response.destroy(error));
  response.on('close', () => file.destroy());
  file.pipe(response);
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  const body = JSON.stringify(value);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

function sendError(options: HandlerOptions, response: ServerResponse, error: unknown): void {
  const refusal =
    error instanceof DaemonError
      ? error
      : new DaemonError(
          'internal',
          `the sandbox daemon failed: ${error instanceof Error ? error.message : error}`,
        );
  if (refusal.code === 'internal') options.log(String(error instanceof Error ? error.stack : error));
  if (response.headersSent) {
    response.destroy();
    return;
  }
  sendJson(response, refusal.status, { code: refusal.code, message: refusal.message });
}
