/** A request handler for clients of the AWS SDK that answers by a script, so that tests see what goes over the wire. */
import { Readable } from 'node:stream';

export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface Answer {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: Readable;
}

/** An error is a connection without an answer. */
type Outcome = Answer | Error;
export type Step = Outcome | ((request: SentRequest) => Outcome | Promise<Outcome>);

export interface ScriptedHttp {
  /** To be spread into the options of a client. */
  readonly options: {
    readonly region: string;
    readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
    readonly requestHandler: never;
  };
  readonly requests: readonly SentRequest[];
}

/** @param steps in order; the last one is repeated. */
export function scriptedHttp(...steps: readonly Step[]): ScriptedHttp {
  const requests: SentRequest[] = [];
  const handle = async (request: SentRequest): Promise<{ response: Answer }> => {
    const step = steps[Math.min(requests.length, steps.length - 1)];
    requests.push({ ...request, headers: { ...request.headers } });
    const answer = await (typeof step === 'function' ? step(request) : step);
    if (answer === undefined) throw new Error('the script is empty');
    if (answer instanceof Error) throw answer;
    return { response: answer };
  };
  const handler = { handle, updateHttpClientConfig: () => undefined, httpHandlerConfigs: () => ({}) };
  return {
    options: {
      region: 'us-east-1',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
      requestHandler: handler as never,
    },
    requests,
  };
}

/** A new body at every call: a stream is read once. */
export const answer =
  (statusCode: number, body: string | (() => Readable) = '', headers: Record<string, string> = {}) =>
  (): Answer => ({
    statusCode,
    headers,
    body: typeof body === 'string' ? Readable.from(body === '' ? [] : [Buffer.from(body)]) : body(),
  });

/** Some bytes, and then a reset. */
export function brokenBody(begin: string): Readable {
  async function* chunks(): AsyncGenerator<Buffer> {
    yield Buffer.from(begin);
    throw networkError('ECONNRESET');
  }
  return Readable.from(chunks());
}

export const textOf = (request: SentRequest | undefined): string =>
  typeof request?.body === 'string' ? request.body : new TextDecoder().decode(request?.body as Uint8Array);

/** Of the JSON services. */
export const json = (statusCode: number, body: unknown): Step =>
  answer(statusCode, JSON.stringify(body), { 'content-type': 'application/x-amz-json-1.0' });

export const jsonError = (type: string, message = 'arn:aws:iam::123456789012:role/secret', more = {}): Step =>
  json(400, { __type: `com.amazonaws.service#${type}`, message, Message: message, ...more });

export const networkError = (code: string): Error => Object.assign(new Error(`${code} 10.0.0.1`), { code });

/** What a promise is rejected with. */
export const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'nothing failed',
    (error) => error,
  );
