import type { CliIo } from '../io.ts';

type Signal = 'SIGINT' | 'SIGTERM';

export interface Interruption {
  /** The first one, once there was one. */
  readonly signal: Signal | undefined;
  /** Called at the first one, at once where it has been; and at each that follows. */
  onSignal(listener: (signal: Signal, count: number) => void): void;
  /** From here on it ends the process again. */
  stop(): void;
}

/** From here on Ctrl-C does not end the process: what is under way decides. */
export function interruption(io: CliIo): Interruption {
  let first: Signal | undefined;
  let count = 0;
  let listener: ((signal: Signal, count: number) => void) | undefined;
  const stop = io.onInterrupt((signal) => {
    first ??= signal;
    count += 1;
    listener?.(signal, count);
  });
  return {
    get signal() {
      return first;
    },
    onSignal: (added) => {
      listener = added;
      if (first !== undefined) added(first, count);
    },
    stop,
  };
}
