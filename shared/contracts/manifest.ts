/**
 * The pinned manifest of a run: everything the run depends on, by exact digest, with nothing secret in it.
 * Its digest is SHA-256 over RFC 8785 JSON; run id and times are not part of it.
 */
import * as z from 'zod';
import { digestSchema, fingerprintSchema, idSchema, nameSchema, sha256Schema } from './names.ts';

export const pinnedPackageSchema = z.object({
  name: nameSchema,
  revision: idSchema,
  digest: digestSchema,
  size_bytes: z.int(),
});
export type PinnedPackage = z.infer<typeof pinnedPackageSchema>;

export const manifestSchema = z.object({
  version: z.literal(1),
  scope_fingerprint: fingerprintSchema,
  agent: z.object({ name: nameSchema, revision: idSchema, definition_digest: digestSchema }),
  /** In the order of the agent's skills. */
  packages: z.array(pinnedPackageSchema),
  /** Each with the names of the packages it may see. */
  subagents: z.array(z.object({ name: nameSchema, packages: z.array(nameSchema) })),
  sandbox: z.object({
    profile: nameSchema,
    image_identity: z.string(),
    egress_aliases: z.array(nameSchema),
    /** `none` only with the explicit unsafe setting of a development server. */
    isolation: z.enum(['sandbox', 'none']),
  }),
  package_backend: z.enum(['config_registry', 's3', 'filesystem']),
  model: z.string().nullable(),
  command: z.object({
    skill: nameSchema.nullable(),
    script: z.string().nullable(),
    /** SHA-256 over the RFC 8785 JSON of the arguments; the values are not kept. */
    args_sha256: sha256Schema,
    env_sha256: z.record(z.string(), sha256Schema),
    stdin_sha256: sha256Schema.nullable(),
  }),
  inputs: z.array(
    z.object({ artifact_id: idSchema, path: z.string(), sha256: sha256Schema, size_bytes: z.int() }),
  ),
  outputs: z.array(z.string()).nullable(),
  timeout_seconds: z.int(),
  caps: z.object({
    stream_bytes: z.int(),
    output_files: z.int(),
    output_bytes: z.int(),
  }),
});
export type Manifest = z.infer<typeof manifestSchema>;
