/** /agents: definitions that attach skills by name. */
import {
  type Agent,
  type AgentDefinition,
  createAgentSchema,
  patchAgentSchema,
  putAgentSchema,
} from '../../shared/contracts/agent.ts';
import { nameSchema, pageQuerySchema } from '../../shared/contracts/names.ts';
import type { Versioned } from '../../shared/services/commit-with.ts';
import { apiHandler } from '../runtime/api-handler.ts';
import { invalidRequest, validate } from '../runtime/invalid-request.ts';
import { existing, noBody, noQuery, operation } from '../runtime/operation.ts';
import { etagHeader, json, noContent } from '../runtime/responses.ts';
import { services } from '../runtime/services.ts';

type Params = Readonly<Record<string, string>>;

const agentName = (params: Params): string => existing(params, 'name', nameSchema, 'agent');

const agentAnswer = (status: number, agent: Versioned<Agent>, headers: Record<string, string> = {}) =>
  json(status, agent.value, { ...etagHeader(agent.etag), ...headers });

const createAgent = operation({
  query: noQuery,
  format: 'json',
  body: createAgentSchema,
  handle: async ({ fingerprint, body }) => {
    const agent = await services().agents.create(fingerprint, body);
    return agentAnswer(201, agent, { location: `agents/${agent.value.name}` });
  },
});

const listAgents = operation({
  query: pageQuerySchema,
  ...noBody,
  handle: async ({ fingerprint, query }) => json(200, await services().agents.list(fingerprint, query)),
});

const getAgent = operation({
  query: noQuery,
  ...noBody,
  handle: async ({ fingerprint, params }) =>
    agentAnswer(200, await services().agents.get(fingerprint, agentName(params))),
});

const putAgent = operation({
  query: noQuery,
  format: 'json',
  body: putAgentSchema,
  preconditions: ['if-match', 'if-none-match'],
  handle: async ({ fingerprint, params, body, preconditions }) => {
    const definition = withNameOfPath(body, params.name);
    const agent = await services().agents.put(fingerprint, definition, preconditions);
    return agent.created ? agentAnswer(201, agent, { location: agent.value.name }) : agentAnswer(200, agent);
  },
});

function withNameOfPath(body: { name?: string | undefined }, name: string | undefined): AgentDefinition {
  if (body.name !== undefined && body.name !== name) {
    const message = 'the name in the body differs from the one in the path; leave it out';
    throw invalidRequest(message, [{ pointer: '/name', message }]);
  }
  return validate(createAgentSchema, { ...body, name }, 'the agent');
}

const patchAgent = operation({
  query: noQuery,
  format: 'json',
  body: patchAgentSchema,
  preconditions: ['if-match'],
  handle: async ({ fingerprint, params, body, preconditions }) =>
    agentAnswer(200, await services().agents.patch(fingerprint, agentName(params), body, preconditions)),
});

const deleteAgent = operation({
  query: noQuery,
  ...noBody,
  preconditions: ['if-match'],
  handle: async ({ fingerprint, params, preconditions }) => {
    await services().agents.delete(fingerprint, agentName(params), preconditions);
    return noContent();
  },
});

export const handler = apiHandler('agents', {
  createAgent,
  listAgents,
  getAgent,
  putAgent,
  patchAgent,
  deleteAgent,
});
