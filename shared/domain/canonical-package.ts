/**
 * Canonical bytes of a package and their digest. The format: the 8 bytes `CSKPKG1\n`, then for each file in
 * ascending order of the path's UTF-8 bytes: u32be path length, path, u64be content length, content. What is
 * stored, what travels and what the sandbox verifies are these same bytes.
 */
import { createHash } from 'node:crypto';
import { TextDecoder } from 'node:util';

const MAGIC = Buffer.from('CSKPKG1\n', 'latin1');
const HEADER_BYTES = 4 + 8;

export interface PackageEntry {
  readonly path: string;
  readonly content: Uint8Array;
}

/** Thrown by `decodePackage`: what the bytes are not. */
export class NotCanonical extends Error {
  override readonly name = 'NotCanonical';
}

/**
 * @param files path to text; paths must be validated (unique, well-formed), contents well-formed.
 * @param sizes UTF-8 bytes of the contents in the order of `files`, where the caller has counted them already.
 */
export function encodePackage(files: ReadonlyMap<string, string>, sizes?: readonly number[]): Buffer {
  const entries = [...files].map(([path, text], index) => ({
    path: Buffer.from(path, 'utf8'),
    text,
    size: sizes?.[index] ?? Buffer.byteLength(text, 'utf8'),
  }));
  entries.sort((a, b) => Buffer.compare(a.path, b.path));
  const total = entries.reduce(
    (sum, { path, size }) => sum + HEADER_BYTES + path.length + size,
    MAGIC.length,
  );
  const bytes = Buffer.allocUnsafe(total);
  let at = MAGIC.copy(bytes, 0);
  for (const { path, text, size } of entries) {
    at = bytes.writeUInt32BE(path.length, at);
    at += path.copy(bytes, at);
    at = bytes.writeBigUInt64BE(BigInt(size), at);
    at += bytes.write(text, at, 'utf8');
  }
  return bytes;
}

/** Length of the canonical bytes of files with these paths and this sum of contents, without writing them. */
export function canonicalLength(paths: readonly string[], contentBytes: number): number {
  return paths.reduce(
    (sum, path) => sum + HEADER_BYTES + Buffer.byteLength(path, 'utf8'),
    MAGIC.length + contentBytes,
  );
}

/** `sha256:` and lower hex over the canonical bytes. */
export function packageDigest(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/**
 * Reads canonical bytes without copying contents. Only bytes that encodePackage could have written are
 * accepted: order, duplicates, lengths and trailing bytes are checked, and paths must be UTF-8.
 * @throws NotCanonical
 */
export function decodePackage(bytes: Uint8Array): PackageEntry[] {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.length < MAGIC.length || !view.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw new NotCanonical('the package does not begin with CSKPKG1');
  }
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const entries: PackageEntry[] = [];
  let previous: Buffer | undefined;
  let at = MAGIC.length;
  const take = (length: number): Buffer => {
    if (length > view.length - at)
      throw new NotCanonical(`the package ends in the middle of a file, at byte ${at}`);
    at += length;
    return view.subarray(at - length, at);
  };
  while (at < view.length) {
    const path = take(take(4).readUInt32BE(0));
    if (previous !== undefined && Buffer.compare(previous, path) >= 0) {
      throw new NotCanonical(`the paths are not in ascending order, at byte ${at}`);
    }
    previous = path;
    const length = take(8).readBigUInt64BE(0);
    if (length > BigInt(view.length))
      throw new NotCanonical(`a file is longer than the package, at byte ${at}`);
    entries.push({ path: decodePath(decoder, path), content: take(Number(length)) });
  }
  return entries;
}

function decodePath(decoder: TextDecoder, path: Uint8Array): string {
  try {
    return decoder.decode(path);
  } catch (cause) {
    throw new NotCanonical('a path is not UTF-8', { cause });
  }
}
