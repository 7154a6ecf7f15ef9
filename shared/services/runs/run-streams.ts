import { LIMITS } from '../../contracts/limits.ts';
import type { RunRow } from '../../contracts/rows.ts';
import type { Run } from '../../contracts/run.ts';
import type { RunRef } from '../../contracts/workflow.ts';
import { KEYS } from '../../domain/row-keys.ts';
import type { TableStore, Write } from '../../ports/table-store.ts';
import { readAll } from '../records/read-all.ts';
import { runExpiry } from '../records/run-records.ts';

export type StreamName = 'stdout' | 'stderr';

/** The bytes that a command wrote, in pieces by their offset, so that a running command's output is readable. */
export interface RunStreams {
  append(row: RunRow, stream: StreamName, offset: number, bytes: Uint8Array): Write;
  read(row: RunRow): Promise<Pick<Run, 'stdout' | 'stdout_truncated' | 'stderr' | 'stderr_truncated'>>;
}

const partition = ({ fingerprint, run_id }: RunRef, stream: StreamName): string =>
  KEYS.blob(`run-stream#${fingerprint}#${run_id}#${stream}`);

export function createRunStreams(table: TableStore): RunStreams {
  const text = async (row: RunRow, stream: StreamName): Promise<{ text: string; cut: boolean }> => {
    if (row.progress[`${stream}_offset`] === 0) return { text: '', cut: false };
    const rows = await readAll(table, partition(row, stream));
    const pieces = rows.map(({ bytes }) => bytes ?? new Uint8Array(0));
    return cutText(decodeLossy(Buffer.concat(pieces)), LIMITS.streamBytes);
  };
  return {
    append: (row, stream, offset, bytes) => ({
      kind: 'put',
      key: { pk: partition(row, stream), sk: String(offset).padStart(10, '0') },
      data: {},
      bytes,
      expires_at: runExpiry(row),
    }),
    async read(row) {
      const [stdout, stderr] = await Promise.all([text(row, 'stdout'), text(row, 'stderr')]);
      return {
        stdout: stdout.text,
        stdout_truncated: row.stdout_truncated || stdout.cut,
        stderr: stderr.text,
        stderr_truncated: row.stderr_truncated || stderr.cut,
      };
    },
  };
}

/** What is not UTF-8 becomes U+FFFD; a BOM stays. */
export function decodeLossy(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

/** Cuts on a whole character: replaced bytes make a text longer than what was written. */
export function cutText(text: string, maxBytes: number): { text: string; cut: boolean } {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return { text, cut: false };
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return { text: bytes.toString('utf8', 0, end), cut: true };
}

/** The text in parts of at most `maxBytes`, each of whole characters. */
export function splitText(text: string, maxBytes: number): string[] {
  const parts: string[] = [];
  for (let rest = text; rest.length > 0; ) {
    const part = cutText(rest, maxBytes).text;
    parts.push(part);
    rest = rest.slice(part.length);
  }
  return parts;
}
