/** Puts objects for ever and says which are acknowledged. */
import { createFilesystemObjectStore } from '../../../shared/adapters/local/filesystem-object-store.ts';
import { systemClock } from '../../../shared/adapters/system-clock.ts';
import { sha256Hex } from '../../../shared/domain/sha256.ts';

const [root = ''] = process.argv.slice(2);
const objects = createFilesystemObjectStore({ root, clock: systemClock, signDownload: () => '' });
const bytes = new Uint8Array(200_000).fill(7);
const sha256 = sha256Hex(bytes);
const write = async (writer: number): Promise<void> => {
  for (let round = 0; ; round += 1) {
    const key = `w${writer}/k${round}`;
    await objects.put({ key, bytes, sha256 });
    process.stdout.write(`acknowledged ${key}\n`);
  }
};
await Promise.all([0, 1, 2, 3].map(write));
