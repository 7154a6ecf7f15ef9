/** The part of an agent that its digest covers, and how changes of it are checked. */
import {
  type Agent,
  type AgentDefinition,
  createAgentSchema,
  type PatchAgent,
} from '../../contracts/agent.ts';
import { CognitionError } from '../../domain/cognition-error.ts';
import { jsonDigest } from '../../domain/manifest-digest.ts';

function definitionOf({
  revision: _revision,
  definition_digest: _digest,
  scope_key: _scope,
  created_at: _created,
  updated_at: _updated,
  ...definition
}: Agent): AgentDefinition {
  return definition;
}

/** Over RFC 8785 JSON; a field that is left out differs from an empty one. */
export const definitionDigest = (definition: AgentDefinition): string => jsonDigest(definition);

/** null clears `model` and `instructions`; what is left out stays. @throws CognitionError `invalid_request` */
export function applyPatch(agent: Agent, patch: PatchAgent): AgentDefinition {
  const { model = agent.model, instructions = agent.instructions, ...fields } = patch;
  const { model: _model, instructions: _instructions, ...kept } = definitionOf(agent);
  return requireDefinition({
    ...kept,
    ...fields,
    ...(model == null ? {} : { model }),
    ...(instructions == null ? {} : { instructions }),
  });
}

/**
 * The rules that hold for an agent as a whole, which the parts of a change cannot show: subagents stay within its
 * skills, and its text is Unicode that every store and digest can carry.
 * @throws CognitionError `invalid_request`
 */
export function requireDefinition(candidate: object): AgentDefinition {
  const parsed = createAgentSchema.safeParse(candidate);
  const errors = parsed.success
    ? loneSurrogates(parsed.data)
    : parsed.error.issues.map(({ path, message }) => ({ pointer: pointerTo(path), message }));
  if (parsed.success && errors.length === 0) return parsed.data;
  const [first] = errors;
  throw new CognitionError(
    'invalid_request',
    `the agent is not valid: ${first?.pointer ?? ''}: ${first?.message ?? ''}`,
    {
      errors,
    },
  );
}

function loneSurrogates(definition: AgentDefinition): { pointer: string; message: string }[] {
  const texts: [string, string | undefined][] = [
    ['/description', definition.description],
    ['/model', definition.model],
    ['/instructions', definition.instructions],
    ...definition.subagents.map(({ description }, index): [string, string | undefined] => [
      `/subagents/${index}/description`,
      description,
    ]),
  ];
  return texts
    .filter(([, text]) => text !== undefined && !text.isWellFormed())
    .map(([pointer]) => ({ pointer, message: 'has half of a surrogate pair; use valid Unicode' }));
}

const pointerTo = (path: readonly PropertyKey[]): string =>
  path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
