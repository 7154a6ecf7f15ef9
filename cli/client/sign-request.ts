/** SigV4 for API Gateway, as IAM-authorized APIs and the standalone server verify it. */
import { SignatureV4 } from '@smithy/signature-v4';
import { NodeSha256 } from '../../shared/domain/node-sha256.ts';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

export interface UnsignedRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** As sent: the signature covers these bytes, compressed where they are. */
  readonly body: Uint8Array | undefined;
}

export interface SigningIdentity {
  readonly region: string;
  readonly credentials: Credentials;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** @returns all headers to send, the signature among them; `host` is left to the HTTP client. */
export async function signRequest(
  request: UnsignedRequest,
  identity: SigningIdentity,
): Promise<Record<string, string>> {
  const signer = new SignatureV4({
    service: 'execute-api',
    region: identity.region,
    credentials: {
      accessKeyId: identity.credentials.accessKeyId,
      secretAccessKey: identity.credentials.secretAccessKey,
      ...(identity.credentials.sessionToken === undefined
        ? {}
        : { sessionToken: identity.credentials.sessionToken }),
    },
    sha256: NodeSha256,
  });
  const { url } = request;
  const signed = await signer.sign(
    {
      method: request.method,
      protocol: url.protocol,
      hostname: url.hostname,
      ...(url.port === '' ? {} : { port: Number(url.port) }),
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: { ...request.headers, host: url.host },
      body: request.body,
    },
    { signingDate: new Date(identity.now) },
  );
  const { host: _host, ...headers } = signed.headers;
  return headers;
}
