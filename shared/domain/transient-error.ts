/** For what may pass by itself: a throttled table, a store that did not answer, a sandbox still starting. */
export class TransientError extends Error {
  override readonly name = 'TransientError';

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
  }
}
