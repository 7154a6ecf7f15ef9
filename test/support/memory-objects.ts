import type { Clock } from '../../shared/ports/clock.ts';
import type { ObjectStore, PutObject } from '../../shared/ports/object-store.ts';

/** Objects in memory; they keep what the port promises and no more. */
export function memoryObjects(clock: Clock): ObjectStore {
  const stored = new Map<string, { bytes: Uint8Array; written_at: string }>();
  const store = ({ key, bytes }: PutObject): void =>
    void stored.set(key, { bytes: Uint8Array.from(bytes), written_at: new Date(clock.now()).toISOString() });
  const info = (key: string, { bytes, written_at }: { bytes: Uint8Array; written_at: string }) => ({
    key,
    size_bytes: bytes.byteLength,
    written_at,
  });
  return {
    put: async (object) => {
      if (stored.has(object.key)) return 'exists';
      store(object);
      return 'written';
    },
    replace: async (object) => store(object),
    get: async (key) => stored.get(key)?.bytes,
    head: async (key) => {
      const found = stored.get(key);
      return found && info(key, found);
    },
    delete: async (key) => void stored.delete(key),
    list: async (prefix) => ({
      objects: [...stored].filter(([key]) => key.startsWith(prefix)).map(([key, found]) => info(key, found)),
    }),
    downloadUrl: async (key) => `https://objects.test/${encodeURIComponent(key)}`,
  };
}
