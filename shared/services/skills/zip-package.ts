import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';
import type { PackageEntry } from '../../domain/canonical-package.ts';
import { isExecutable } from '../../domain/package/is-executable.ts';

const REGULAR_FILE = 0o100000;

/**
 * A zip of the package below a directory of the skill's name. Equal packages give equal bytes: one fixed time,
 * canonical order, and modes that follow from the contents.
 */
export async function zipPackage(name: string, entries: readonly PackageEntry[]): Promise<Buffer> {
  const zip = new ZipFile();
  // The zip format counts from 1980 in local time, so a local date is what gives the same bytes everywhere.
  const mtime = new Date(1980, 0, 1);
  for (const { path, content } of entries) {
    const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
    const mode = REGULAR_FILE | (isExecutable(content) ? 0o755 : 0o644);
    zip.addBuffer(bytes, `${name}/${path}`, { mtime, mode, forceDosTimestamp: true });
  }
  zip.end();
  return buffer(zip.outputStream);
}
