/** A gateway on a free port, and the two signers that tests send with. */

import { createHash, createHmac, type Hash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { SignatureV4 } from '@smithy/signature-v4';
import { AwsV4Signer } from 'aws4fetch';
import { createGateway, type GatewayOptions } from '../../infra/local/gateway/create-gateway.ts';
import { encodeScopeRef } from '../../shared/domain/scope.ts';
import { ACCOUNT, RecordingLogger, ROLE, SCOPE } from './api-fakes.ts';
import { HANDLERS } from './api-requests.ts';

export const KEY_ID = 'AKIDLOCALEXAMPLE';
export const SECRET = 'local-secret-of-the-tests';
export const REGION = 'us-east-1';
export const SKILLS = `/v1/scopes/${encodeScopeRef(SCOPE)}/skills`;

export const systemClock = { now: () => Date.now(), sleep: async () => undefined };

export interface TestGateway {
  readonly base: string;
  readonly port: number;
  readonly logger: RecordingLogger;
  close(): Promise<void>;
}

export async function startGateway(options: Partial<GatewayOptions> = {}): Promise<TestGateway> {
  const logger = new RecordingLogger();
  const server = createGateway({
    handlers: HANDLERS,
    region: REGION,
    clock: systemClock,
    logger,
    credentials: (accessKeyId) =>
      accessKeyId === KEY_ID
        ? {
            secretAccessKey: SECRET,
            accountId: ACCOUNT,
            principalId: ROLE,
            sessionName: 'laptop',
            userArn: `arn:aws:sts::${ACCOUNT}:assumed-role/builder/laptop`,
          }
        : undefined,
    ...options,
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    base: `http://127.0.0.1:${port}`,
    port,
    logger,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export interface ToSign {
  readonly method: string;
  readonly url: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

export interface SignWith {
  readonly accessKeyId?: string;
  readonly secret?: string;
  readonly region?: string;
  readonly service?: string;
  readonly date?: Date;
  readonly sessionToken?: string;
}

export type Signer = (request: ToSign, options?: SignWith) => Promise<Record<string, string>>;

class Sha256 {
  readonly #hash: Hash | ReturnType<typeof createHmac>;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret as string);
  }
  update(data: Uint8Array): void {
    this.#hash.update(data);
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
  reset(): void {}
}

/** As the AWS SDKs sign: the body's hash goes along in x-amz-content-sha256. */
const smithy: Signer = async ({ method, url, headers, body }, options = {}) => {
  const { hostname, host, pathname, searchParams } = new URL(url);
  const query: Record<string, string[]> = {};
  for (const [name, value] of searchParams) query[name] = [...(query[name] ?? []), value];
  const signer = new SignatureV4({
    credentials: {
      accessKeyId: options.accessKeyId ?? KEY_ID,
      secretAccessKey: options.secret ?? SECRET,
      ...(options.sessionToken === undefined ? {} : { sessionToken: options.sessionToken }),
    },
    region: options.region ?? REGION,
    service: options.service ?? 'execute-api',
    sha256: Sha256,
  });
  const signed = await signer.sign(
    {
      method,
      protocol: 'http:',
      hostname,
      path: pathname,
      query,
      headers: { ...headers, host },
      ...(body === undefined ? {} : { body }),
    },
    options.date === undefined ? {} : { signingDate: options.date },
  );
  return signed.headers;
};

/** Written apart from the SDKs: the body's hash is in the signature alone. */
const aws4fetch: Signer = async ({ method, url, headers, body }, options = {}) => {
  const signed = await new AwsV4Signer({
    method,
    url,
    accessKeyId: options.accessKeyId ?? KEY_ID,
    secretAccessKey: options.secret ?? SECRET,
    region: options.region ?? REGION,
    service: options.service ?? 'execute-api',
    ...(headers === undefined ? {} : { headers }),
    ...(body === undefined ? {} : { body }),
    ...(options.sessionToken === undefined ? {} : { sessionToken: options.sessionToken }),
    ...(options.date === undefined
      ? {}
      : { datetime: options.date.toISOString().replace(/[:-]|\.\d{3}/g, '') }),
  }).sign();
  return Object.fromEntries(signed.headers.entries());
};

export const SIGNERS: readonly (readonly [string, Signer])[] = [
  ['@smithy/signature-v4', smithy],
  ['aws4fetch', aws4fetch],
];
export { aws4fetch, smithy };

/** Sends bytes as they are, and gives everything that came back until the server closed. */
export function rawExchange(port: number, text: string | Buffer, stayMs = 5_000): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    const end = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(end, stayMs);
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
    });
    socket.on('end', end).on('close', end).on('error', end);
    socket.write(text);
  });
}
