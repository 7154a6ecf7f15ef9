/** Stored rows, as the repositories in services/records write and parse them. Keys are in domain/row-keys. */
import * as z from 'zod';
import { agentSchema } from './agent.ts';
import { manifestSchema } from './manifest.ts';
import { digestSchema, fingerprintSchema, idSchema, nameSchema, sha256Schema, timeSchema } from './names.ts';
import { createRunSchema, inputArtifactSchema, runSchema } from './run.ts';
import { revisionSchema } from './skill.ts';

/** The current pointer of a skill. `skill_id` is new at every creation, so old revisions stay gone. */
export const skillRowSchema = revisionSchema.omit({ created_at: true }).extend({
  skill_id: idSchema,
  enabled: z.boolean(),
  created_at: timeSchema,
  updated_at: timeSchema,
});
export type SkillRow = z.infer<typeof skillRowSchema>;

export const revisionRowSchema = revisionSchema.extend({ skill_id: idSchema });
export type RevisionRow = z.infer<typeof revisionRowSchema>;

/** One for each (fingerprint, digest): `collecting` belongs to the garbage collector. */
export const objectRowSchema = z.object({
  digest: digestSchema,
  size_bytes: z.int(),
  state: z.enum(['writing', 'live', 'collecting']),
  /** When another may take over: a publisher while `writing`, a collector while condemned. */
  lease_until: timeSchema,
  /** While `collecting`: the bytes may be gone, so the row never becomes live again. */
  condemned: z.literal(true).optional(),
});
export type ObjectRow = z.infer<typeof objectRowSchema>;

/** In the list of all object rows. */
export const objectIndexRowSchema = z.object({ fingerprint: fingerprintSchema, digest: digestSchema });

/** A skill that was deleted and whose revisions the collector has yet to remove. */
export const deletedSkillRowSchema = z.object({
  fingerprint: fingerprintSchema,
  skill_id: idSchema,
  deleted_at: timeSchema,
});

export const agentRowSchema = agentSchema;

/** Everything of a run but its streams, which are blobs, and its request. */
export const runRowSchema = runSchema.omit({ stdout: true, stderr: true }).extend({
  fingerprint: fingerprintSchema,
  last_sequence: z.int(),
  slot: z.int().nullable(),
  /** What the command may take at most, in seconds: the lease of the slot follows from it. */
  timeout_seconds: z.int(),
  /** How far the command's streams and refused egress have been turned into events. */
  progress: z
    .object({ stdout_offset: z.int(), stderr_offset: z.int(), egress_denied: z.int() })
    .default({ stdout_offset: 0, stderr_offset: 0, egress_denied: 0 }),
});
export type RunRow = z.infer<typeof runRowSchema>;

/** One of the runs that a scope may have at once: free when absent or past its lease. */
export const slotRowSchema = z.object({ run_id: idSchema, lease_until: timeSchema });
export type SlotRow = z.infer<typeof slotRowSchema>;

export const manifestRowSchema = z.object({ manifest: manifestSchema, manifest_digest: digestSchema });
export type ManifestRow = z.infer<typeof manifestRowSchema>;

/** A run's need of a package: which revision it pinned. */
export const runReferenceRowSchema = z.object({ skill_id: idSchema, revision: idSchema });
export type RunReferenceRow = z.infer<typeof runReferenceRowSchema>;

/** Kept as a blob until the run ends: it has args, env and stdin. */
export const runRequestSchema = createRunSchema;

/** In the partition of runs that have not ended; the sweeper reads it. */
export const activeRunRowSchema = z.object({
  fingerprint: fingerprintSchema,
  run_id: idSchema,
  created_at: timeSchema,
});
export type ActiveRunRow = z.infer<typeof activeRunRowSchema>;

/** The sandbox of a run, or one waiting in a pool. */
export const sandboxRowSchema = z.object({
  sandbox_id: idSchema,
  profile: nameSchema,
  image_identity: z.string(),
  task_id: z.string().nullable(),
  host: z.string().nullable(),
  port: z.int().nullable(),
  requested_at: timeSchema,
  stopped: z.boolean().default(false),
});
export type SandboxRow = z.infer<typeof sandboxRowSchema>;

/** In a row of its own, which only the functions that call sandboxes may read. PKCS8 DER, base64. */
export const sandboxKeyRowSchema = z.object({ sandbox_id: idSchema, private_key: z.string() });

/** Free when absent or past its time. */
export const maintenanceLeaseRowSchema = z.object({ lease_until: timeSchema });
export type MaintenanceLeaseRow = z.infer<typeof maintenanceLeaseRowSchema>;

/** The place at which the next pass goes on, as the pass named it. */
export const maintenanceBookmarkRowSchema = z.object({ after: z.string() });
export type MaintenanceBookmarkRow = z.infer<typeof maintenanceBookmarkRowSchema>;

export const artifactRowSchema = z.object({
  path: z.string(),
  size_bytes: z.int(),
  sha256: sha256Schema.nullable(),
  artifact_id: idSchema.nullable(),
  refused: z.string().nullable(),
});
export type ArtifactRow = z.infer<typeof artifactRowSchema>;

export const inputArtifactRowSchema = inputArtifactSchema;

/**
 * The finished answer to a request with an Idempotency-Key, written in the transaction that did the work, so
 * that a crash leaves both or neither.
 */
export const idempotencyRowSchema = z.object({
  body_sha256: sha256Schema,
  status: z.int(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
});
export type IdempotencyRow = z.infer<typeof idempotencyRowSchema>;
