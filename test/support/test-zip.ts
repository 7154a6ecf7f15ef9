/** Zips read by a program that has nothing to do with the product: python3's own library. */
import { spawnSync } from 'node:child_process';

export interface ZipEntry {
  readonly path: string;
  readonly mode: number;
  readonly bytes: Buffer;
}

const PROGRAM = `
import sys, io, json, base64, zipfile
z = zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read()))
assert z.testzip() is None
print(json.dumps([[i.filename, i.external_attr >> 16, base64.b64encode(z.read(i)).decode()] for i in z.infolist()]))
`;

export function unzip(zip: Uint8Array): ZipEntry[] {
  const { status, stdout, stderr } = spawnSync('python3', ['-c', PROGRAM], { input: zip, encoding: 'utf8' });
  if (status !== 0) throw new Error(`python3 could not read the zip: ${stderr}`);
  const entries: [string, number, string][] = JSON.parse(stdout);
  return entries.map(([path, mode, data]) => ({ path, mode, bytes: Buffer.from(data, 'base64') }));
}
