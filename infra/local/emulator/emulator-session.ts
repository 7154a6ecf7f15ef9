/** From the first process to the last: whatever was started ends with the work, and with an interruption of it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface EmulatorSession {
  /** For everything that is written; gone afterwards. */
  readonly folder: string;
  /** Aborted when the work is to end. */
  readonly signal: AbortSignal;
  /** The exit code of this process, when it is interrupted. */
  readonly interrupted: Promise<number>;
  /** @param stop called at the end, the last one first. */
  onStarted(stop: () => Promise<void>): void;
}

/** @returns the exit code. */
export async function emulatorSession(work: (session: EmulatorSession) => Promise<number>): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'cognition-emulator-'));
  const stops: (() => Promise<void>)[] = [];
  const controller = new AbortController();
  const interrupted = new Promise<number>((resolve) => {
    // Each may come twice, to the group and from npm; what is under way is the cleaning up then.
    process.on('SIGINT', () => resolve(130));
    process.on('SIGTERM', () => resolve(143));
    process.on('SIGHUP', () => resolve(129));
  });
  const working = work({
    folder,
    signal: controller.signal,
    interrupted,
    onStarted: (stop) => void stops.push(stop),
  });
  try {
    return await Promise.race([working, interrupted]);
  } finally {
    controller.abort();
    await working.catch(() => undefined);
    for (const stop of stops.reverse()) await stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
