import type { Terminal } from '../io.ts';
import { sanitizeText } from './sanitize.ts';

/** Exact into files and pipes; on a terminal without control sequences. */
export function printBytes(bytes: Buffer, stream: Terminal): void {
  stream.write(stream.isTTY === true ? sanitizeText(bytes.toString('utf8')) : bytes);
}
