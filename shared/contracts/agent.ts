/** Agents over the API. An agent attaches skills by name; names are resolved when a run starts. */
import * as z from 'zod';
import { LIMITS } from './limits.ts';
import { digestSchema, fingerprintSchema, idSchema, nameSchema, timeSchema } from './names.ts';
import { sizeText } from './size-text.ts';

const distinct = (names: readonly string[]): boolean => new Set(names).size === names.length;
const skillNamesSchema = z
  .array(nameSchema)
  .max(LIMITS.skillsPerAgent)
  .refine(distinct, 'each skill at most once');

const instructionsSchema = z
  .string()
  .refine((text) => Buffer.byteLength(text, 'utf8') <= LIMITS.instructionsBytes, {
    message: `at most ${sizeText(LIMITS.instructionsBytes)}`,
  });

/** A custom subagent gets its named subset of the agent's skills; without `skills` it inherits all. */
export const subagentSchema = z.strictObject({
  name: nameSchema,
  description: z.string().max(LIMITS.descriptionLength).optional(),
  skills: skillNamesSchema.optional(),
});

const agentFieldsSchema = z.strictObject({
  name: nameSchema,
  description: z.string().max(LIMITS.descriptionLength).default(''),
  skills: skillNamesSchema.default([]),
  subagents: z.array(subagentSchema).max(LIMITS.subagentsPerAgent).default([]),
  sandbox_profile: nameSchema.default('default'),
  model: z.string().min(1).max(256).optional(),
  instructions: instructionsSchema.optional(),
});

const subagentsInside = (agent: z.infer<typeof agentFieldsSchema>): boolean =>
  agent.subagents.every((subagent) => (subagent.skills ?? []).every((skill) => agent.skills.includes(skill)));
const SUBAGENTS_INSIDE = { message: 'a subagent may only name skills of its agent', path: ['subagents'] };

export const createAgentSchema = agentFieldsSchema.refine(subagentsInside, SUBAGENTS_INSIDE);
export type AgentDefinition = z.infer<typeof createAgentSchema>;

/** The body of PUT: the name is in the path, and may be repeated if equal. */
export const putAgentSchema = agentFieldsSchema.partial({ name: true });
/** No defaults here: a field left out stays as it is; `model` and `instructions` may be cleared with null. */
export const patchAgentSchema = z
  .strictObject({
    description: z.string().max(LIMITS.descriptionLength).optional(),
    skills: skillNamesSchema.optional(),
    subagents: z.array(subagentSchema).max(LIMITS.subagentsPerAgent).optional(),
    sandbox_profile: nameSchema.optional(),
    model: z.string().min(1).max(256).nullable().optional(),
    instructions: instructionsSchema.nullable().optional(),
  })
  .refine((body) => Object.keys(body).length > 0, { message: 'name at least one field to change' });
export type PatchAgent = z.infer<typeof patchAgentSchema>;

export const agentSchema = z.object({
  ...agentFieldsSchema.shape,
  revision: idSchema,
  definition_digest: digestSchema,
  /** The scope fingerprint: the canonical key of the scope the agent belongs to. */
  scope_key: fingerprintSchema,
  created_at: timeSchema,
  updated_at: timeSchema,
});
export type Agent = z.infer<typeof agentSchema>;
