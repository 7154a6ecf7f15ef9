import type * as z from 'zod';
import {
  agentSchema,
  type createAgentSchema,
  type PatchAgent,
  type putAgentSchema,
} from '../../shared/contracts/agent.ts';
import { agentPageSchema } from './answers.ts';
import {
  type Caller,
  type PageRequest,
  type Preconditions,
  pageQuery,
  preconditionHeaders,
} from './caller.ts';

export function agentsClient(caller: Caller) {
  const at = (name: string) => ({ parameters: { name } });
  return {
    createAgent: (definition: z.input<typeof createAgentSchema>) =>
      caller.versioned('createAgent', agentSchema, { json: definition }),
    listAgents: (page: PageRequest = {}) =>
      caller.json('listAgents', agentPageSchema, { query: pageQuery(page) }),
    getAgent: (name: string) => caller.versioned('getAgent', agentSchema, at(name)),
    putAgent: (name: string, definition: z.input<typeof putAgentSchema>, preconditions: Preconditions = {}) =>
      caller.versioned('putAgent', agentSchema, {
        ...at(name),
        json: definition,
        headers: preconditionHeaders(preconditions),
      }),
    patchAgent: (name: string, patch: PatchAgent, preconditions: Preconditions = {}) =>
      caller.versioned('patchAgent', agentSchema, {
        ...at(name),
        json: patch,
        headers: preconditionHeaders(preconditions),
      }),
    deleteAgent: async (name: string, preconditions: Preconditions = {}): Promise<void> => {
      await caller.answer('deleteAgent', { ...at(name), headers: preconditionHeaders(preconditions) });
    },
  };
}
