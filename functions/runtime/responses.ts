/** Answers of handlers. Locations are relative to the request's path, so that no scope ref is stored with one. */
import type { BytesOrDownload } from '../../shared/services/commit-with.ts';
import type { ApiResult } from './api-call.ts';

type Headers = Readonly<Record<string, string>>;

export function json(statusCode: number, value: unknown, headers: Headers = {}): ApiResult {
  return {
    statusCode,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(value),
  };
}

export const noContent = (): ApiResult => ({ statusCode: 204, headers: {}, body: '' });

export const etagHeader = (etag: string): Headers => ({ etag: `"${etag}"` });

/** Exact bytes that no browser interprets, or where to fetch them. */
export function bytesOrDownload(content: BytesOrDownload, headers: Headers = {}): ApiResult {
  if (content.kind === 'download') {
    const { kind: _kind, ...download } = content;
    return json(200, download, headers);
  }
  const { bytes } = content;
  return {
    statusCode: 200,
    headers: {
      'content-type': content.content_type,
      'content-disposition': 'attachment',
      ...etagHeader(content.sha256),
      ...headers,
    },
    isBase64Encoded: true,
    body: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'),
  };
}
