/**
 * SigV4 as API Gateway checks it: the signature is made again over the request as received, with the library that
 * clients sign with, and compared. Refused: presigned queries, unsigned payloads, dates off by over five minutes.
 * Messages name the cause, which AWS does not do: this gateway is for one machine.
 */
import { timingSafeEqual } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import { LIMITS } from '../../../shared/contracts/limits.ts';
import { CognitionError } from '../../../shared/domain/cognition-error.ts';
import { NodeSha256 } from '../../../shared/domain/node-sha256.ts';
import { sha256Hex } from '../../../shared/domain/sha256.ts';
import type { Clock } from '../../../shared/ports/clock.ts';

/** Who an access key stands for. */
export interface GatewayCredentials {
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** Twelve digits. */
  readonly accountId: string;
  /** Unique id of role or user: AROA..., AIDA.... */
  readonly principalId: string;
  readonly sessionName: string;
  readonly userArn: string;
}

export interface SignedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: ReadonlyMap<string, readonly string[]>;
  /** By lower-case name, as received. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
}

export interface SignatureVerifierOptions {
  readonly credentials: (accessKeyId: string) => GatewayCredentials | undefined;
  readonly region: string;
  readonly service: string;
  readonly clock: Clock;
}

/** What is known of a request before its body has arrived. */
export interface ClaimedSignature {
  readonly accessKeyId: string;
  readonly identity: GatewayCredentials;
  /** @throws CognitionError `access_denied` unless the signature covers exactly this body. */
  verify(body: Uint8Array): Promise<void>;
}

export interface SignatureVerifier {
  /** Everything that can be refused without the body. @throws CognitionError `access_denied` */
  claim(request: SignedRequest): ClaimedSignature;
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/,\s]+)\/(\d{8})\/([^/,\s]+)\/([^/,\s]+)\/aws4_request,\s*SignedHeaders=([!-~]+?),\s*Signature=([0-9a-f]{64})$/;
const AMZ_DATE = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/;
const DATE_HEADER = 'x-amz-date';
const BODY_HASH_HEADER = 'x-amz-content-sha256';
const TOKEN_HEADER = 'x-amz-security-token';

interface Authorization {
  readonly accessKeyId: string;
  readonly date: string;
  readonly region: string;
  readonly service: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
}

const denied = (message: string): CognitionError => new CognitionError('access_denied', message);

export function signatureVerifier(options: SignatureVerifierOptions): SignatureVerifier {
  const signers = new Map<string, { secret: string; signer: SignatureV4 }>();
  const signerOf = (accessKeyId: string, secret: string): SignatureV4 => {
    const known = signers.get(accessKeyId);
    if (known?.secret === secret) return known.signer;
    const { region, service } = options;
    const credentials = { accessKeyId, secretAccessKey: secret };
    const signer = new SignatureV4({
      credentials,
      region,
      service,
      sha256: NodeSha256,
      applyChecksum: false,
    });
    signers.set(accessKeyId, { secret, signer });
    return signer;
  };
  return {
    claim(request) {
      const authorization = readAuthorization(request);
      const identity = options.credentials(authorization.accessKeyId);
      if (identity === undefined) throw denied('the access key is not known to this server');
      checkScope(authorization, options);
      const signedAt = checkDate(authorization, request, options.clock.now());
      checkToken(request, identity);
      const headers = signedHeaders(authorization, request);
      const bodyHash = claimedBodyHash(request);
      const signer = signerOf(authorization.accessKeyId, identity.secretAccessKey);
      return {
        accessKeyId: authorization.accessKeyId,
        identity,
        async verify(body) {
          if (bodyHash !== undefined && !equal(bodyHash, sha256Hex(body))) {
            throw denied('the body is not the one whose hash is in x-amz-content-sha256');
          }
          const again = await signAgain(signer, request, headers, body, signedAt);
          if (!equal(again, authorization.signature)) {
            throw denied(
              'the signature does not match: the secret key is wrong, or method, path, query, body or a signed header differ from what was signed',
            );
          }
        },
      };
    },
  };
}

function readAuthorization(request: SignedRequest): Authorization {
  for (const name of request.query.keys()) {
    if (/^x-amz-(signature|algorithm|credential)$/i.test(name)) {
      throw denied('presigned URLs are not taken; sign with the Authorization header');
    }
  }
  const values = request.headers.get('authorization') ?? [];
  const [value] = values;
  if (value === undefined) throw denied('the request is not signed; sign it with AWS Signature Version 4');
  const parts = values.length === 1 ? AUTHORIZATION.exec(value) : null;
  if (parts === null) throw denied('the Authorization header is not one of AWS Signature Version 4');
  const [, accessKeyId = '', date = '', region = '', service = '', headers = '', signature = ''] = parts;
  return { accessKeyId, date, region, service, signedHeaders: headers.split(';'), signature };
}

function checkScope(authorization: Authorization, options: SignatureVerifierOptions): void {
  if (authorization.region !== options.region) {
    throw denied(`the request is signed for another Region; this server is ${options.region}`);
  }
  if (authorization.service !== options.service) {
    throw denied(`the request is signed for another service; sign for ${options.service}`);
  }
}

/** @returns the time of signing. */
function checkDate(authorization: Authorization, request: SignedRequest, now: number): Date {
  const value = single(request, DATE_HEADER);
  const parts = value === undefined ? null : AMZ_DATE.exec(value);
  if (value === undefined || parts === null) throw denied('the header x-amz-date is missing or malformed');
  const [, year, month, day, hour, minute, second] = parts;
  const signedAt = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  const skew = Math.abs(signedAt.getTime() - now);
  if (!(skew <= LIMITS.clockSkewSeconds * 1000)) {
    throw denied(
      `x-amz-date is more than ${LIMITS.clockSkewSeconds} seconds away from this server's ${new Date(now).toISOString()}; set the clock`,
    );
  }
  if (!value.startsWith(authorization.date))
    throw denied('the date of the credential differs from x-amz-date');
  return signedAt;
}

function checkToken(request: SignedRequest, identity: GatewayCredentials): void {
  const token = single(request, TOKEN_HEADER) ?? '';
  if (!equal(token, identity.sessionToken ?? '')) {
    throw denied('x-amz-security-token is not the session token of this access key');
  }
}

function signedHeaders(authorization: Authorization, request: SignedRequest): Record<string, string> {
  const signed = new Set(authorization.signedHeaders);
  const required = [...request.headers.keys()].filter((name) => name.startsWith('x-amz-'));
  for (const name of ['host', DATE_HEADER, ...required]) {
    if (!signed.has(name)) throw denied(`the header ${name.slice(0, 64)} must be signed`);
  }
  const headers: [string, string][] = [];
  for (const name of signed) {
    const values = request.headers.get(name);
    if (values === undefined) throw denied('a header that is named as signed did not arrive');
    headers.push([name, values.join(',')]);
  }
  return Object.fromEntries(headers);
}

function claimedBodyHash(request: SignedRequest): string | undefined {
  const hash = single(request, BODY_HASH_HEADER);
  if (hash === undefined || /^[0-9a-f]{64}$/.test(hash)) return hash;
  throw denied(
    'x-amz-content-sha256 must be the SHA-256 of the body; unsigned and streaming payloads are not taken',
  );
}

function single(request: SignedRequest, name: string): string | undefined {
  const values = request.headers.get(name) ?? [];
  if (values.length > 1) throw denied(`the header ${name} is given more than once`);
  return values[0];
}

async function signAgain(
  signer: SignatureV4,
  request: SignedRequest,
  headers: Record<string, string>,
  body: Uint8Array,
  signingDate: Date,
): Promise<string> {
  const query = Object.fromEntries([...request.query].map(([name, values]) => [name, [...values]]));
  const signed = await signer.sign(
    {
      method: request.method,
      protocol: 'https:',
      hostname: headers.host ?? '',
      path: request.path,
      query,
      headers,
      ...(body.length === 0 ? {} : { body }),
    },
    { signingDate, signableHeaders: new Set(Object.keys(headers)) },
  );
  return signed.headers.authorization?.slice(-64) ?? '';
}

/** In constant time; lengths are no secret. */
function equal(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
