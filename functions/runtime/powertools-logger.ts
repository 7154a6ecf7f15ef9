import { Logger as Powertools } from '@aws-lambda-powertools/logger';
import type { Logger } from '../../shared/ports/logger.ts';

export interface LoggerOptions {
  readonly service: string;
  /** Default INFO. */
  readonly level?: 'INFO' | 'WARN' | 'ERROR';
}

/**
 * JSON lines by Powertools. Context goes in with each line and not with appendKeys, which is shared by all
 * requests of the process.
 */
export function powertoolsLogger({ service, level = 'INFO' }: LoggerOptions): Logger {
  const logger = new Powertools({ serviceName: service, logLevel: level });
  return {
    info: (message, fields = {}) => logger.info(message, fields),
    warn: (message, fields = {}) => logger.warn(message, fields),
    error: (message, fields = {}) => logger.error(message, fields),
  };
}
