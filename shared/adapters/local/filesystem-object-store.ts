/**
 * ObjectStore in a folder. An object is written under a temporary name, synced, then linked to its own name, which
 * fails where something is already; so a reader never sees a part, and of two writers one wins.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { link, mkdir, open, rename, rm, rmdir, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CognitionError } from '../../domain/cognition-error.ts';
import { sha256Hex } from '../../domain/sha256.ts';
import { TransientError } from '../../domain/transient-error.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ObjectInfo, ObjectStore, PutObject } from '../../ports/object-store.ts';
import { checkObjectKey } from '../checked-object-key.ts';
import type { DownloadLinks } from './download-links.ts';
import { filesystemFailure, systemErrorCode } from './filesystem-failure.ts';
import { listObjectFiles, objectPath } from './object-paths.ts';

export interface FilesystemObjectStoreOptions {
  /** Made when missing, readable by this user only. What crashed writers left in it is removed. */
  readonly root: string;
  readonly clock: Clock;
  readonly signDownload: DownloadLinks['sign'];
}

const PAGE = 1_000;
const ATTEMPTS = 3;

export function createFilesystemObjectStore(options: FilesystemObjectStoreOptions): ObjectStore {
  const { root, clock, signDownload } = options;
  const objects = join(root, 'objects');
  const incoming = join(root, 'incoming');
  for (const folder of [objects, incoming]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  // One by one: whoever writes at this moment tries again, and finds the folder.
  for (const name of readdirSync(incoming)) rmSync(join(incoming, name), { recursive: true, force: true });

  const fileOf = (key: string): string => {
    checkObjectKey(key);
    return join(objects, objectPath(key));
  };
  const place = (object: PutObject, how: Placing): Promise<'written' | 'exists'> =>
    guarded(root, () => placeObject({ incoming, file: fileOf(object.key), object, now: clock.now() }, how));

  return {
    put: (object) => place(object, linkIfAbsent),
    replace: async (object) => {
      await place(object, renameOver);
    },
    get: async (key) => {
      const file = fileOf(key);
      return await guarded(root, () => orAbsent(readWhole(file)));
    },
    head: async (key) => {
      const file = fileOf(key);
      return await guarded(root, () => infoOf(key, file));
    },
    delete: async (key) => {
      const file = fileOf(key);
      await guarded(root, () => removeObject(objects, file));
    },
    list: (prefix, after) =>
      guarded(root, async () => {
        const keys = await listObjectFiles(objects, { prefix, after, limit: PAGE });
        const found = await Promise.all(keys.map((key) => infoOf(key, fileOf(key))));
        const next = keys.length === PAGE ? keys.at(-1) : undefined;
        // An object deleted meanwhile is not listed.
        const infos = found.filter((info) => info !== undefined);
        return next === undefined ? { objects: infos } : { objects: infos, next };
      }),
    downloadUrl: async (key, download) => {
      checkObjectKey(key);
      return signDownload(key, download);
    },
  };
}

async function guarded<T>(root: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw filesystemFailure(error, root);
  }
}

async function orAbsent<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** In as few reads as the system allows; objects never change in place, so the size is final. */
async function readWhole(file: string): Promise<Uint8Array> {
  const handle = await open(file, 'r');
  try {
    const bytes = Buffer.allocUnsafe((await handle.stat()).size);
    for (let at = 0; at < bytes.length; ) {
      const { bytesRead } = await handle.read(bytes, at);
      if (bytesRead === 0) throw new Error(`${file} is shorter than its size`);
      at += bytesRead;
    }
    return bytes;
  } finally {
    await handle.close();
  }
}

async function infoOf(key: string, file: string): Promise<ObjectInfo | undefined> {
  const found = await orAbsent(stat(file));
  if (found === undefined) return undefined;
  return { key, size_bytes: found.size, written_at: new Date(found.mtimeMs).toISOString() };
}

type Placing = (temporary: string, file: string) => Promise<'written' | 'exists'>;

const linkIfAbsent: Placing = async (temporary, file) => {
  try {
    await link(temporary, file);
    return 'written';
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST') return 'exists';
    throw error;
  }
};

const renameOver: Placing = async (temporary, file) => {
  await rename(temporary, file);
  return 'written';
};

interface Placement {
  readonly incoming: string;
  readonly file: string;
  readonly object: PutObject;
  readonly now: number;
}

async function placeObject(
  { incoming, file, object, now }: Placement,
  how: Placing,
): Promise<'written' | 'exists'> {
  if (sha256Hex(object.bytes) !== object.sha256) {
    throw new CognitionError('digest_mismatch', `the bytes for ${object.key} do not have the SHA-256 given`);
  }
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const temporary = join(incoming, randomUUID());
    try {
      await both(writeSynced(temporary, object.bytes, now), makeFolder(dirname(file)));
      const outcome = await how(temporary, file);
      // Also for `exists`: the winner may not have come to it, and this caller relies on the object from now on.
      await syncFolder(dirname(file));
      return outcome;
    } catch (error) {
      // A deletion took the emptied folder away between two of our steps.
      if (systemErrorCode(error) !== 'ENOENT') throw error;
    } finally {
      await rm(temporary, { force: true });
    }
  }
  throw new TransientError(`the folder of ${object.key} was removed ${ATTEMPTS} times while it was written`);
}

/** At once, as each waits for the disk; neither goes on when this returns. */
async function both(first: Promise<void>, second: Promise<void>): Promise<void> {
  for (const result of await Promise.allSettled([first, second])) {
    if (result.status === 'rejected') throw result.reason;
  }
}

async function writeSynced(file: string, bytes: Uint8Array, now: number): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.utimes(now / 1_000, now / 1_000);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Syncs every folder that got a new entry. */
async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = folder; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Folders that are empty then go too: each run has one. */
async function removeObject(objects: string, file: string): Promise<void> {
  try {
    await unlink(file);
    await syncFolder(dirname(file));
    for (let folder = dirname(file); folder !== objects; folder = dirname(folder)) await rmdir(folder);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code !== 'ENOENT' && code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
  }
}
