import { createHash } from 'node:crypto';
import { LIMITS } from '../../shared/contracts/limits.ts';
import { type Download, downloadSchema } from '../../shared/contracts/skill.ts';
import { TransportError } from './client-errors.ts';
import { type Answer, exchange } from './transport.ts';

export interface ReceivedBytes {
  readonly bytes: Buffer;
  readonly sha256: string;
  readonly contentType: string;
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/**
 * The bytes of an answer, or of the place it points to, compared with the hash that is expected of them. Bytes
 * that a script wrote can look like a `download_url` answer, so what has the expected hash is taken as it is.
 *
 * @param expected lower hex, from the list that named the bytes; without it an announced hash is checked
 */
export async function receiveBytes(
  answer: Answer,
  fetchFn: typeof fetch,
  endpoint: string,
  expected?: string,
): Promise<ReceivedBytes> {
  const contentType = answer.headers.get('content-type') ?? 'application/octet-stream';
  const actual = sha256(answer.bytes);
  if (actual === (expected ?? announcedHash(answer)))
    return { bytes: answer.bytes, sha256: actual, contentType };
  const download = downloadOf(answer, contentType);
  if (download === undefined) {
    if (expected !== undefined || announcedHash(answer) !== undefined) throw mismatch(actual);
    return { bytes: answer.bytes, sha256: actual, contentType };
  }
  if (expected !== undefined && download.sha256 !== expected) throw mismatch(download.sha256);
  return fetchDownload(download, fetchFn, endpoint);
}

const announcedHash = (answer: Answer): string | undefined =>
  answer.headers.get('x-cognition-sha256') ?? undefined;

function downloadOf(answer: Answer, contentType: string): Download | undefined {
  if (!/^application\/json\b/i.test(contentType) || answer.bytes.length > 64 * 1024) return undefined;
  try {
    const parsed = downloadSchema.safeParse(JSON.parse(answer.bytes.toString('utf8')));
    return parsed.success && parsed.data.size_bytes > LIMITS.responseBodyBytes / 2 ? parsed.data : undefined;
  } catch {
    return undefined;
  }
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
  const actual = sha256(answer.bytes);
  if (actual !== download.sha256) throw mismatch(actual);
  const contentType = answer.headers.get('content-type') ?? 'application/octet-stream';
  return { bytes: answer.bytes, sha256: actual, contentType };
}

const mismatch = (actual: string): TransportError =>
  new TransportError(
    'checksum_mismatch',
    `the bytes received have SHA-256 ${actual}, which is not the one announced`,
  );
