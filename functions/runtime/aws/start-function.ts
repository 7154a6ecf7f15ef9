import type { Context } from 'aws-lambda';
import type { FunctionPorts } from './function-ports.ts';
import { type FunctionDefinition, openFunction } from './open-function.ts';

export type FunctionHandler<Event, Answer, Given extends Context = Context> = (
  event: Event,
  context: Given,
) => Promise<Answer>;

/** What Lambda calls. @throws Error as openFunction does. */
export function startFunction<Event, Answer>(
  definition: FunctionDefinition,
  handler: FunctionHandler<Event, Answer>,
): FunctionHandler<Event, Answer> {
  return observed(openFunction(definition), handler);
}

/** Lambda freezes a process after its answer, so what was measured goes out before it. */
export function observed<Event, Answer, Given extends Context>(
  { logger, metrics }: Pick<FunctionPorts, 'logger' | 'metrics'>,
  handler: FunctionHandler<Event, Answer, Given>,
): FunctionHandler<Event, Answer, Given> {
  return async (event, context) => {
    logger.startInvocation(context);
    try {
      return await handler(event, context);
    } finally {
      metrics.flush();
    }
  };
}
