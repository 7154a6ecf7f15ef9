import { systemClock } from '../../../shared/adapters/system-clock.ts';
import { createUlidIds } from '../../../shared/adapters/ulid-ids.ts';
import { FUNCTION_ENVIRONMENT } from '../../../shared/contracts/function-environment.ts';
import { powertoolsLogger } from '../powertools-logger.ts';
import { powertoolsMetrics } from '../powertools-metrics.ts';
import { type FunctionParts, type FunctionPorts, readPorts } from './function-ports.ts';
import { type Environment, readVariables } from './read-variables.ts';

export interface FunctionDefinition {
  /** As in the function table. */
  readonly name: string;
  readonly parts: FunctionParts;
  /** Puts the services where the handler finds them. */
  readonly wiring: (ports: FunctionPorts) => void;
}

/**
 * The first thing that a function does, once a process: reads its environment as a whole, makes its ports and its
 * services. Clients connect and look for credentials at their first call.
 * @throws Error of one line with everything that is wrong with the environment, so that the function does not start.
 */
export function openFunction(
  { name, parts, wiring }: FunctionDefinition,
  environment: Environment = process.env,
): FunctionPorts {
  const problems: string[] = [];
  const base = readVariables(FUNCTION_ENVIRONMENT.base, environment);
  if (!base.ok) problems.push(...base.problems);
  const createPorts = readPorts(parts, environment, problems);
  if (!base.ok || problems.length > 0) {
    throw new Error(`the function ${name} cannot start: ${[...new Set(problems)].join('; ')}`);
  }
  const ports = createPorts({
    backend: base.values.COGNITION_SKILLS_BACKEND,
    clock: systemClock,
    ids: createUlidIds(),
    random: Math.random,
    logger: powertoolsLogger({ service: name, level: LEVELS[base.values.COGNITION_LOG_LEVEL] }),
    metrics: powertoolsMetrics({ deployment: base.values.COGNITION_DEPLOYMENT }),
  });
  wiring(ports);
  return ports;
}

const LEVELS = { debug: 'DEBUG', info: 'INFO', warn: 'WARN', error: 'ERROR' } as const;
