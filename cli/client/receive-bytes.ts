import { createHash } from 'node:crypto';
import { type Download, downloadSchema } from '../../shared/contracts/skill.ts';
import { TransportError } from './client-errors.ts';
import { readJson } from './read-json.ts';
import { type Answer, exchange } from './transport.ts';

export interface ReceivedBytes {
  readonly bytes: Buffer;
  readonly sha256: string;
  readonly contentType: string;
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/**
 * The bytes of an answer, or of the place it points to, with their hash checked. Bytes that a script wrote can look
 * like a `download_url` answer; what tells them apart is a header, which no script can write.
 *
 * @param expected lower hex, from the list that named the bytes; without it the announced hash is checked
 */
export async function receiveBytes(
  answer: Answer,
  fetchFn: typeof fetch,
  endpoint: string,
  expected?: string,
): Promise<ReceivedBytes> {
  const attached = answer.headers.get('content-disposition')?.startsWith('attachment') ?? false;
  if (!attached) {
    const download = readJson(answer, downloadSchema);
    if (expected !== undefined && download.sha256 !== expected) throw mismatch(download.sha256);
    return fetchDownload(download, fetchFn, endpoint);
  }
  return received(answer, expected ?? announcedHash(answer));
}

/** The ETag of bytes is their hash. */
const announcedHash = (answer: Answer): string | undefined =>
  /^"([0-9a-f]{64})"$/.exec(answer.headers.get('etag') ?? '')?.[1];

function received(answer: Answer, expected: string | undefined): ReceivedBytes {
  const actual = sha256(answer.bytes);
  if (expected !== undefined && actual !== expected) throw mismatch(actual);
  const contentType = answer.headers.get('content-type') ?? 'application/octet-stream';
  return { bytes: answer.bytes, sha256: actual, contentType };
}

/** Without our signature: the URL carries its own right, and may belong to another host. */
async function fetchDownload(
  download: Download,
  fetchFn: typeof fetch,
  endpoint: string,
): Promise<ReceivedBytes> {
  const url = new URL(download.download_url, endpoint);
  const secure = url.protocol === 'https:' || url.origin === new URL(endpoint).origin;
  if (!secure) {
    throw new TransportError(
      'unexpected_answer',
      `a download from ${url.origin} is refused: it is not https`,
    );
  }
  const answer = await exchange(fetchFn, url, {
    redirect: 'error',
    headers: { 'accept-encoding': 'identity' },
    signal: AbortSignal.timeout(300_000),
  });
  if (answer.status !== 200) {
    throw new TransportError(
      'unreachable',
      `the download answered ${answer.status}; its link may have expired at ${download.expires_at}: ask again`,
    );
  }
  return received(answer, download.sha256);
}

const mismatch = (actual: string): TransportError =>
  new TransportError(
    'checksum_mismatch',
    `the bytes received have SHA-256 ${actual}, which is not the one announced`,
  );
