import type { Logger } from '../../shared/ports/logger.ts';

/**
 * What a schedule does on AWS: the work now and again and again, each time so many seconds after the last one ended.
 * What a crash left half done is thus picked up at the start.
 * @returns stops it, and resolves when the work under way has ended.
 */
export function repeat(
  name: string,
  seconds: number,
  work: () => Promise<unknown>,
  logger: Logger,
): () => Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let underWay: Promise<void> = Promise.resolve();
  const round = async (): Promise<void> => {
    try {
      await work();
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'unknown';
      logger.error('maintenance.failed', { work: name, reason });
    }
    if (stopped) return;
    timer = setTimeout(begin, seconds * 1_000);
    timer.unref();
  };
  const begin = (): void => {
    underWay = round();
  };
  begin();
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await underWay;
  };
}
