/**
 * What handlers are given. The wiring (AWS in functions/runtime/aws, standalone in infra/local) provides it once
 * a process, before the first event; handlers ask for it at each call and build nothing themselves.
 */
import type { ScopeBinding } from '../../shared/contracts/scope.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import type { Logger } from '../../shared/ports/logger.ts';
import type { Metrics } from '../../shared/ports/metrics.ts';
import type { TableStore } from '../../shared/ports/table-store.ts';
import type { AgentRegistry } from '../../shared/services/agent-registry.ts';
import type { InputArtifacts } from '../../shared/services/input-artifacts.ts';
import type { RunService } from '../../shared/services/run-service.ts';
import type { RunSteps } from '../../shared/services/run-steps.ts';
import type { SkillRegistry } from '../../shared/services/skill-registry.ts';
import { provided } from './provided.ts';

export interface Services {
  readonly table: TableStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly bindings: readonly ScopeBinding[];
  readonly skills: SkillRegistry;
  readonly agents: AgentRegistry;
  readonly runs: RunService;
  readonly inputs: InputArtifacts;
  readonly steps: RunSteps;
}

export const { provide: provideServices, get: services } = provided<Services>('provideServices');
