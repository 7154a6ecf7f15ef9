/** Clock, ids and logs of tests. */
import { monotonicFactory } from 'ulid';
import type { Clock } from '../../shared/ports/clock.ts';
import type { Ids } from '../../shared/ports/ids.ts';
import type { Logger } from '../../shared/ports/logger.ts';

export const systemTestClock = (): Clock => ({
  now: () => Date.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
});

export function testIds(): Ids {
  const next = monotonicFactory();
  return { next: () => next() };
}

export function recordingLog(): Logger & { readonly lines: { level: string; message: string }[] } {
  const lines: { level: string; message: string }[] = [];
  const write = (level: string) => (message: string) => void lines.push({ level, message });
  return { lines, info: write('info'), warn: write('warn'), error: write('error') };
}
