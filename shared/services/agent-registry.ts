import type { Agent, AgentDefinition, PatchAgent } from '../contracts/agent.ts';
import type { Page, PageQuery } from '../contracts/names.ts';
import type { Preconditions, Versioned } from './commit-with.ts';

/** Agents of one exact scope. There are no defaults and no inheritance. */
export interface AgentRegistry {
  create(fingerprint: string, definition: AgentDefinition): Promise<Versioned<Agent>>;
  put(
    fingerprint: string,
    definition: AgentDefinition,
    preconditions: Preconditions,
  ): Promise<Versioned<Agent> & { readonly created: boolean }>;
  patch(
    fingerprint: string,
    name: string,
    patch: PatchAgent,
    preconditions: Preconditions,
  ): Promise<Versioned<Agent>>;
  get(fingerprint: string, name: string): Promise<Versioned<Agent>>;
  list(fingerprint: string, page: PageQuery): Promise<Page<Agent>>;
  delete(fingerprint: string, name: string, preconditions: Preconditions): Promise<void>;
}
