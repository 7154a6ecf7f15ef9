import { Logger as Powertools } from '@aws-lambda-powertools/logger';
import type { Context } from 'aws-lambda';
import type { Logger } from '../../shared/ports/logger.ts';

export interface LoggerOptions {
  readonly service: string;
  /** Default INFO. */
  readonly level?: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';
}

export interface FunctionLogger extends Logger {
  /** Lines from now on say which invocation of which function they are of, and whether it was a cold start. */
  startInvocation(context: Context): void;
}

/**
 * JSON lines by Powertools. Context goes in with each line and not with appendKeys, which is shared by all
 * requests of the process. A Lambda function has one invocation at a time, so that is the process's own.
 */
export function powertoolsLogger({ service, level = 'INFO' }: LoggerOptions): FunctionLogger {
  const logger = new Powertools({ serviceName: service, logLevel: level });
  return {
    info: (message, fields = {}) => logger.info(message, fields),
    warn: (message, fields = {}) => logger.warn(message, fields),
    error: (message, fields = {}) => logger.error(message, fields),
    startInvocation: (context) => logger.addContext(context),
  };
}
