/** Fills the disk with objects, then sees what is there and what works again once something is deleted. */
import { readdirSync } from 'node:fs';
import { createFilesystemObjectStore } from '../../../shared/adapters/local/filesystem-object-store.ts';
import { systemClock } from '../../../shared/adapters/system-clock.ts';
import { isCognitionError } from '../../../shared/domain/cognition-error.ts';
import { sha256Hex } from '../../../shared/domain/sha256.ts';

const [root = ''] = process.argv.slice(2);
const objects = createFilesystemObjectStore({ root, clock: systemClock, signDownload: () => '' });
const bytes = new Uint8Array(100_000).fill(7);
const put = (key: string) => objects.put({ key, bytes, sha256: sha256Hex(bytes) });
let acknowledged = 0;
let refusal: unknown;
while (refusal === undefined && acknowledged < 10_000) {
  try {
    await put(`a/k${acknowledged}`);
    acknowledged += 1;
  } catch (error) {
    refusal = error;
  }
}
const listed = (await objects.list('')).objects;
await objects.delete('a/k0');
process.stdout.write(
  JSON.stringify({
    refused: isCognitionError(refusal, 'storage_full'),
    acknowledged,
    whole: listed.filter(({ size_bytes }) => size_bytes === bytes.length).length,
    listed: listed.length,
    temporary: readdirSync(`${root}/incoming`).length,
    afterDeletion: await put('a/again'),
  }),
);
