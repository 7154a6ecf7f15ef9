const KiB = 1024;
const MiB = 1024 * KiB;

/** A limit as people say it and as programs count it: `4 MiB (4194304 bytes)`, or just `1000 bytes`. */
export function sizeText(bytes: number): string {
  if (bytes >= MiB && bytes % MiB === 0) return `${bytes / MiB} MiB (${bytes} bytes)`;
  if (bytes >= KiB && bytes % KiB === 0) return `${bytes / KiB} KiB (${bytes} bytes)`;
  return `${bytes} bytes`;
}
