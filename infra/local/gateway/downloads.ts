/** GET /downloads/...: bytes above the response limit, by the URLs that the local object store signs. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { attachmentOf } from '../../../shared/adapters/attachment.ts';
import type { DownloadLinks } from '../../../shared/adapters/local/download-links.ts';
import { CognitionError } from '../../../shared/domain/cognition-error.ts';
import type { ObjectStore } from '../../../shared/ports/object-store.ts';

export interface OpenDownload {
  readonly bytes: Uint8Array;
  readonly content_type: string;
  readonly file_name: string;
}

export interface Downloads {
  /**
   * @param url path with query, as in the `download_url`.
   * @returns undefined when the URL is not one of ours, has expired, or its object is gone.
   */
  open(url: string): Promise<OpenDownload | undefined>;
}

/** What the links of this server name in its object store. */
export function downloadsOf(links: DownloadLinks, objects: ObjectStore): Downloads {
  return {
    async open(url) {
      const link = links.open(url);
      const bytes = link === undefined ? undefined : await objects.get(link.key);
      return link === undefined || bytes === undefined ? undefined : { ...link, bytes };
    },
  };
}

export const DOWNLOADS_PREFIX = '/downloads/';

/** @throws CognitionError `not_found` before anything is sent. */
export async function sendDownload(
  downloads: Downloads | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const download = await downloads?.open(request.url ?? '');
  if (download === undefined) {
    throw new CognitionError('not_found', 'this download URL is wrong or has expired; ask for a new one');
  }
  response.writeHead(200, {
    'content-type': download.content_type,
    'content-length': download.bytes.byteLength,
    'content-disposition': attachmentOf(download.file_name),
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  });
  response.end(request.method === 'HEAD' ? undefined : download.bytes);
}
