/** AWS JSON 1.1 over HTTP: the outermost layer of local Fargate. */
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Logger } from '../../../shared/ports/logger.ts';
import { EcsError } from './ecs-error.ts';
import type { EcsOperations } from './ecs-operations.ts';

const TARGET = /^AmazonEC2ContainerServiceV20141113\.([A-Za-z]{1,64})$/;
const BODY_BYTES = 256 * 1024;

export interface EcsServerOptions {
  readonly operations: EcsOperations;
  /** Answered to GET, for people. */
  readonly status: () => unknown;
  /**
   * Path of the endpoint, a secret: whoever can call starts tasks, sees whose there are and stops them, and loopback
   * is open to every user of a machine.
   */
  readonly path: string;
  readonly log: Logger;
}

export function createEcsServer({ operations, status, path, log }: EcsServerOptions): Server {
  const knows = secretPath(path);
  const answer = (response: ServerResponse, code: number, type: string, body: unknown): void => {
    const bytes = Buffer.from(JSON.stringify(body));
    response.writeHead(code, {
      'content-type': type,
      'content-length': bytes.length,
      'x-amzn-requestid': randomUUID(),
    });
    response.end(bytes);
  };
  return createServer({ keepAliveTimeout: 75_000, maxHeaderSize: 16 * 1024 }, (request, response) => {
    const known = knows(request.url ?? '');
    if (known && request.method === 'GET' && request.headers.origin === undefined) {
      answer(response, 200, 'application/json', status());
      return;
    }
    const served = known ? serve(operations, request) : Promise.reject(unknownPath());
    served.then(
      (body) => answer(response, 200, 'application/x-amz-json-1.1', body),
      (cause: unknown) => {
        const error = asEcsError(cause, log);
        if (!request.complete) response.setHeader('connection', 'close');
        const body = { ...error.fields, __type: error.type, message: error.message };
        answer(response, error.status, 'application/x-amz-json-1.1', body);
      },
    );
  });
}

/** An SDK adds a slash to the endpoint. */
function secretPath(path: string): (url: string) => boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  const expected = hash(path);
  return (url) => timingSafeEqual(hash(url.replace(/\/$/, '')), expected);
}

const unknownPath = (): EcsError =>
  new EcsError(
    'AccessDeniedException',
    'the endpoint has a path that this server chose at its start; use all of it',
  );

async function serve(operations: EcsOperations, request: IncomingMessage): Promise<unknown> {
  // A browser page of another origin must not reach this server; no SDK sends Origin.
  if (request.headers.origin !== undefined) {
    throw new EcsError('AccessDeniedException', 'calls out of web pages are refused');
  }
  const target = request.headers['x-amz-target'];
  const name = typeof target === 'string' ? TARGET.exec(target)?.[1] : undefined;
  const operation = name !== undefined && Object.hasOwn(operations, name) ? operations[name] : undefined;
  if (request.method !== 'POST' || operation === undefined) {
    const known = Object.keys(operations).join(', ');
    throw new EcsError('UnknownOperationException', `this server knows the ECS calls ${known}`);
  }
  return operation(await readJson(request));
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const declared = Number(request.headers['content-length']);
  if (!(declared <= BODY_BYTES)) {
    throw new EcsError(
      'InvalidParameterException',
      `a body declares its length, at most ${BODY_BYTES} bytes`,
    );
  }
  const body = await text(request);
  try {
    return JSON.parse(body);
  } catch (cause) {
    throw new EcsError('SerializationException', 'the body is not JSON', { cause });
  }
}

function asEcsError(cause: unknown, log: Logger): EcsError {
  if (cause instanceof EcsError) return cause;
  log.error('local Fargate failed', { cause: cause instanceof Error ? cause.stack : String(cause) });
  return new EcsError('ServerException', 'local Fargate failed; its log has the cause', { cause });
}
