import { httpStatus } from './transient-failure.ts';

/** A command of the SDK, as far as this file needs one. */
interface Watchable {
  readonly middlewareStack: {
    add(
      middleware: <A, R>(next: (args: A) => Promise<R>) => (args: A) => Promise<R>,
      options: {
        readonly step: 'finalizeRequest';
        readonly priority: 'low';
        readonly name: string;
        readonly override: boolean;
      },
    ): void;
  };
}

/**
 * Counts the tries of a command that ended without an answer, or with a server's error: each of them may have been
 * carried out. The SDK's own count of attempts has throttled ones in it, which were not.
 */
export function countUnansweredTries(command: Watchable): () => number {
  let unanswered = 0;
  command.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        if ((httpStatus(error) ?? 500) >= 500) unanswered += 1;
        throw error;
      }
    },
    // Inside of the SDK's retries, so that each try passes here; the document client would add it twice.
    { step: 'finalizeRequest', priority: 'low', name: 'countUnansweredTries', override: true },
  );
  return () => unanswered;
}
