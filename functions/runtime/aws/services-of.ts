import type { Services } from '../services.ts';
import { presentService } from './present-service.ts';

type Known = Pick<Services, 'table' | 'clock' | 'logger' | 'metrics' | 'bindings'>;

/** A service that is left out says so when the handler asks for it. */
export function servicesOf(given: Known & Partial<Services>): Services {
  const { table, clock, logger, metrics, bindings } = given;
  return {
    table,
    clock,
    logger,
    metrics,
    bindings,
    get skills() {
      return presentService('skills', given.skills);
    },
    get agents() {
      return presentService('agents', given.agents);
    },
    get runs() {
      return presentService('runs', given.runs);
    },
    get inputs() {
      return presentService('inputs', given.inputs);
    },
    get steps() {
      return presentService('steps', given.steps);
    },
  };
}
