import type { Logger } from '../../shared/ports/logger.ts';

/** What a schedule does on AWS: the work again and again, each time after the last one has ended. */
export function repeat(
  name: string,
  seconds: number,
  work: () => Promise<unknown>,
  logger: Logger,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const again = (): void => {
    if (stopped) return;
    timer = setTimeout(() => void round(), seconds * 1_000);
    timer.unref();
  };
  const round = async (): Promise<void> => {
    try {
      await work();
    } catch (error) {
      logger.error('maintenance.failed', {
        work: name,
        reason: error instanceof Error ? error.message : 'unknown',
      });
    }
    again();
  };
  again();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
