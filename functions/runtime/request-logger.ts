/** Logs of one request: what it is joined by, and nothing of what it says. */
import type { Logger } from '../../shared/ports/logger.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The context travels with each line: requests of one process overlap, so the logger itself may not keep it. */
export function requestLogger(logger: Logger, context: Fields): Logger {
  return {
    info: (message, fields) => logger.info(message, { ...context, ...fields }),
    warn: (message, fields) => logger.warn(message, { ...context, ...fields }),
    error: (message, fields) => logger.error(message, { ...context, ...fields }),
  };
}

const FRAMES = 12;
const CAUSES = 5;

/**
 * An error as fields for a log line. Messages of others' errors may quote what they were working on, so values
 * of the scope are taken out of them; frames name our own code only.
 */
export function errorFields(error: unknown, secrets: readonly string[]): Fields {
  const chain: Fields[] = [];
  let current: unknown = error;
  while (current instanceof Error && chain.length < CAUSES) {
    chain.push({
      name: current.name,
      ...('code' in current && typeof current.code === 'string' ? { code: current.code } : {}),
      message: withoutSecrets(current.message, secrets),
      frames: framesOf(current),
    });
    current = current.cause;
  }
  return { errors: chain.length === 0 ? [{ name: typeof error }] : chain };
}

function withoutSecrets(message: string, secrets: readonly string[]): string {
  return secrets
    .toSorted((a, b) => b.length - a.length)
    .reduce((text, secret) => text.replaceAll(secret, '[scope]'), message);
}

const framesOf = (error: Error): string[] =>
  (error.stack ?? '')
    .split('\n')
    .filter((line) => line.startsWith('    at '))
    .slice(0, FRAMES)
    .map((line) => line.trim());
