import * as z from 'zod';
import type { Clock } from '../../../shared/ports/clock.ts';
import type { Ids } from '../../../shared/ports/ids.ts';
import type { FunctionLogger } from '../powertools-logger.ts';
import type { BufferedMetrics } from '../powertools-metrics.ts';
import { type Environment, readVariables, type Variables } from './read-variables.ts';

/** What every function has. */
export interface FunctionBase {
  readonly backend: 'config_registry' | 's3';
  readonly clock: Clock;
  readonly ids: Ids;
  /** In [0, 1). */
  readonly random: () => number;
  readonly logger: FunctionLogger;
  readonly metrics: BufferedMetrics;
}

/** A piece that a function may be made of: the variables it reads, and what it makes of them. */
export interface FunctionPart<T> {
  /** Makes nothing yet, so that the problems of all pieces are told together. */
  read(environment: Environment): Variables<(base: FunctionBase) => T>;
}

export function functionPart<Schema extends z.ZodType, T>(
  variables: Schema,
  create: (values: z.output<Schema>, base: FunctionBase) => T,
): FunctionPart<T> {
  return {
    read(environment) {
      const reading = readVariables(variables, environment);
      return reading.ok ? { ok: true, values: (base) => create(reading.values, base) } : reading;
    },
  };
}

/** For a piece that reads none. */
export const NO_VARIABLES = z.object({});
