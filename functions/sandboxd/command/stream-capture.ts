/**
 * Keeps the first bytes of a stream and drains the rest, in memory that does not grow with what is written. Reads go
 * into one buffer that is used again, and nothing is decoded: the writer is hostile.
 */
import { Socket } from 'node:net';

const READ_BYTES = 64 * 1024;
const FIRST_KEPT_BYTES = 4 * 1024;

export interface StreamSlice {
  readonly data: Buffer;
  readonly next_offset: number;
  readonly length: number;
  readonly truncated: boolean;
}

export interface StreamCapture {
  /** Resolves when the last writer is gone. */
  readonly ended: Promise<void>;
  /** At most `limit` bytes from `offset` on, never half a character at the end while more may come. */
  slice(offset: number, limit: number): StreamSlice;
  /** Stops reading, should a writer have outlived its command after all. */
  close(): void;
}

/** @param descriptor read end of a pipe, owned from now on. */
export function captureStream(descriptor: number, keep: number, onChange: () => void): StreamCapture {
  let kept = Buffer.allocUnsafe(Math.min(keep, FIRST_KEPT_BYTES));
  let length = 0;
  let truncated = false;
  let over = false;
  const ended = Promise.withResolvers<void>();

  const append = (bytes: Uint8Array): void => {
    if (truncated) return;
    const taken = Math.min(bytes.length, keep - length);
    if (length + taken > kept.length) {
      const larger = Buffer.allocUnsafe(Math.min(keep, Math.max(2 * kept.length, length + taken)));
      kept.copy(larger, 0, 0, length);
      kept = larger;
    }
    kept.set(bytes.subarray(0, taken), length);
    length += taken;
    if (taken < bytes.length) {
      truncated = true;
      length = wholeCharacters(kept, length);
    }
    onChange();
  };

  const socket = new Socket({
    fd: descriptor,
    readable: true,
    writable: false,
    onread: {
      buffer: Buffer.allocUnsafeSlow(READ_BYTES),
      callback: (count, buffer) => {
        append(buffer.subarray(0, count));
        return true;
      },
    },
  });
  socket.on('error', () => undefined);
  socket.once('close', () => {
    over = true;
    ended.resolve();
  });
  socket.resume();

  return {
    ended: ended.promise,
    close: () => socket.destroy(),
    slice: (offset, limit) => {
      // Half a character does not count as kept before its rest has come: nobody could be given it yet.
      const ready = over || truncated ? length : wholeCharacters(kept, length);
      const start = Math.min(offset, ready);
      const all = Math.min(ready, start + limit);
      const end = all === ready ? all : start + wholeCharacters(kept.subarray(start, all), all - start);
      return { data: kept.subarray(start, end), next_offset: end, length: ready, truncated };
    },
  };
}

/**
 * The length without a UTF-8 character that is cut at the end. Bytes that are no UTF-8 stay.
 * @returns at most 3 less than `length`.
 */
export function wholeCharacters(bytes: Uint8Array, length: number): number {
  for (let back = 1; back <= Math.min(3, length); back += 1) {
    const byte = bytes[length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 && byte <= 0xf4 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
    return byte <= 0xf4 && needed > back ? length - back : length;
  }
  return length;
}
