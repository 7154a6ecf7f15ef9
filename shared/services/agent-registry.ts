import type { Agent, AgentDefinition, PatchAgent } from '../contracts/agent.ts';
import { nameSchema, type Page, type PageQuery } from '../contracts/names.ts';
import { CognitionError } from '../domain/cognition-error.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { TableStore } from '../ports/table-store.ts';
import { applyPatch, definitionDigest, requireDefinition } from './agents/agent-definition.ts';
import type { Preconditions, Versioned } from './commit-with.ts';
import { deleteOnce } from './delete-once.ts';
import { decodeCursor, encodeCursor } from './page-cursor.ts';
import { requirePreconditions } from './preconditions.ts';
import { type AgentRecords, createAgentRecords } from './records/agent-records.ts';
import { retryConflicts } from './retry-conflicts.ts';

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

export interface AgentRegistryDeps {
  readonly table: TableStore;
  readonly clock: Clock;
  readonly ids: Ids;
  /** For jitter, in [0, 1). */
  readonly random: () => number;
}

interface Deps extends AgentRegistryDeps {
  readonly agents: AgentRecords;
}

export function createAgentRegistry(given: AgentRegistryDeps): AgentRegistry {
  const deps = { ...given, agents: createAgentRecords(given.table) };
  return {
    create: (fingerprint, definition) => createAgent(deps, fingerprint, definition),
    put: (fingerprint, definition, conditions) => putAgent(deps, fingerprint, definition, conditions),
    patch: (fingerprint, name, patch, conditions) => patchAgent(deps, fingerprint, name, patch, conditions),
    delete: (fingerprint, name, conditions) => deleteAgent(deps, fingerprint, name, conditions),
    get: async (fingerprint, name) => requireAgent(name, await findAgent(deps, fingerprint, name)),
    async list(fingerprint, { cursor, limit }) {
      const after = decodeCursor('agents', cursor, nameSchema);
      const { rows, next } = await deps.agents.list(fingerprint, { limit, after });
      return next === undefined
        ? { items: rows }
        : { items: rows, next_cursor: encodeCursor('agents', next) };
    },
  };
}

async function createAgent(
  deps: Deps,
  fingerprint: string,
  definition: AgentDefinition,
): Promise<Versioned<Agent>> {
  const agent = newAgent(deps, fingerprint, requireDefinition(definition));
  return retryConflicts(deps, nameOf(agent.name), async () => {
    const current = await deps.agents.get(fingerprint, agent.name);
    // Our own write, whose reply was lost.
    if (current?.value.revision === agent.revision) return current;
    if (current !== undefined) throw agentExists(agent.name);
    return write(deps, fingerprint, agent, undefined);
  });
}

async function putAgent(
  deps: Deps,
  fingerprint: string,
  given: AgentDefinition,
  preconditions: Preconditions,
): Promise<Versioned<Agent> & { created: boolean }> {
  const fresh = newAgent(deps, fingerprint, requireDefinition(given));
  let createdByUs = false;
  return retryConflicts(deps, nameOf(fresh.name), async () => {
    const current = await deps.agents.get(fingerprint, fresh.name);
    if (current?.value.revision === fresh.revision) return { ...current, created: createdByUs };
    requirePreconditions(nameOf(fresh.name), current?.etag, preconditions);
    createdByUs = current === undefined;
    if (current === undefined)
      return { ...(await write(deps, fingerprint, fresh, undefined)), created: true };
    return { ...(await replace(deps, fingerprint, fresh, current)), created: false };
  });
}

async function patchAgent(
  deps: Deps,
  fingerprint: string,
  name: string,
  patch: PatchAgent,
  preconditions: Preconditions,
): Promise<Versioned<Agent>> {
  const revision = deps.ids.next();
  return retryConflicts(deps, nameOf(name), async () => {
    const found = await findAgent(deps, fingerprint, name);
    if (found?.value.revision === revision) return found;
    requirePreconditions(nameOf(name), found?.etag, preconditions);
    const current = requireAgent(name, found);
    const fresh = newAgent(deps, fingerprint, applyPatch(current.value, patch), revision);
    return replace(deps, fingerprint, fresh, current);
  });
}

/** With If-Match, an agent that is not there is a failed condition and not a missing resource. */
async function deleteAgent(
  deps: Deps,
  fingerprint: string,
  name: string,
  preconditions: Preconditions,
): Promise<void> {
  await deleteOnce(deps, nameOf(name), async (isRepeated) => {
    const found = await findAgent(deps, fingerprint, name);
    if (found === undefined && isRepeated) return [];
    requirePreconditions(nameOf(name), found?.etag, preconditions);
    const { etag } = requireAgent(name, found);
    return [deps.agents.remove(fingerprint, name, etag)];
  });
}

/** An equal definition keeps its revision and its ETag. */
async function replace(
  deps: Deps,
  fingerprint: string,
  fresh: Agent,
  current: Versioned<Agent>,
): Promise<Versioned<Agent>> {
  if (current.value.definition_digest === fresh.definition_digest) return current;
  return write(deps, fingerprint, { ...fresh, created_at: current.value.created_at }, current.etag);
}

async function write(
  { table, agents }: Deps,
  fingerprint: string,
  agent: Agent,
  version: string | undefined,
): Promise<Versioned<Agent>> {
  const condition = version === undefined ? { absent: true as const } : { version };
  const [etag] = await table.transact([agents.write(fingerprint, agent, condition)]);
  if (etag === undefined) throw new Error('the table gave no version for the agent row');
  return { value: agent, etag };
}

function newAgent(
  { clock, ids }: Deps,
  fingerprint: string,
  definition: AgentDefinition,
  revision: string = ids.next(),
): Agent {
  const now = new Date(clock.now()).toISOString();
  return {
    ...definition,
    revision,
    definition_digest: definitionDigest(definition),
    scope_key: fingerprint,
    created_at: now,
    updated_at: now,
  };
}

/** A name that cannot be one is not there, without a read. */
const findAgent = async (
  { agents }: Deps,
  fingerprint: string,
  name: string,
): Promise<Versioned<Agent> | undefined> =>
  nameSchema.safeParse(name).success ? agents.get(fingerprint, name) : undefined;

function requireAgent(name: string, found: Versioned<Agent> | undefined): Versioned<Agent> {
  if (found !== undefined) return found;
  throw new CognitionError('not_found', `there is no agent ${JSON.stringify(name)} in this scope`);
}

const nameOf = (name: string): string => `the agent ${JSON.stringify(name)}`;

const agentExists = (name: string): CognitionError =>
  new CognitionError(
    'agent_exists',
    `the agent "${name}" exists already; replace it with PUT, or delete it first`,
  );
