/** Values as people read them. */
import type { Segment } from './output.ts';

const UNITS = ['B', 'KiB', 'MiB', 'GiB'];

export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return unit === 0 ? `${value} B` : `${value.toFixed(1)} ${UNITS[unit]}`;
}

/** Enough of a digest to tell two apart by eye. */
export const shortDigest = (digest: string): string => digest.slice(0, 'sha256:'.length + 12);

/** To the second; the full time is in --json. */
export const formatTime = (time: string): string => time.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC');

export function formatStatus(status: string): Segment {
  if (status === 'succeeded' || status === 'valid' || status === 'yes')
    return { text: status, style: 'green' };
  if (status === 'failed' || status === 'timed_out') return { text: status, style: 'red' };
  if (status === 'cancelled' || status === 'no' || status === 'valid_with_warnings') {
    return { text: status, style: 'yellow' };
  }
  return status;
}
