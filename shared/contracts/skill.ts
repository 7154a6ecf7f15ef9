/** Skills over the API: what builders send and get. */
import * as z from 'zod';
import { packageProblemSchema } from './error-codes.ts';
import { filesMapSchema } from './files-map.ts';
import { digestSchema, idSchema, nameSchema, sha256Schema, timeSchema } from './names.ts';

const oneSource = (body: { files?: unknown; content?: unknown }): boolean =>
  (body.files === undefined) !== (body.content === undefined);
const ONE_SOURCE = { message: 'give either `files` or `content`, and only one of them' };

/** `name` is checked as a name with the package, so that its problem comes with all the others. */
export const createSkillSchema = z
  .strictObject({
    name: z.string().max(256),
    files: filesMapSchema.optional(),
    content: z.string().optional(),
    enabled: z.boolean().default(true),
  })
  .refine(oneSource, ONE_SOURCE);
export type CreateSkill = z.infer<typeof createSkillSchema>;

export const putSkillSchema = z
  .strictObject({
    files: filesMapSchema.optional(),
    content: z.string().optional(),
    enabled: z.boolean().optional(),
  })
  .refine(oneSource, ONE_SOURCE);
export type PutSkill = z.infer<typeof putSkillSchema>;

export const patchSkillSchema = z
  .strictObject({ enabled: z.boolean().optional(), current_revision: idSchema.optional() })
  .refine((body) => Object.keys(body).length > 0, { message: 'name at least one field to change' });
export type PatchSkill = z.infer<typeof patchSkillSchema>;

export const validationStatusSchema = z.enum(['valid', 'valid_with_warnings']);

/** What a revision is, apart from its bytes. */
export const revisionSchema = z.object({
  name: nameSchema,
  description: z.string(),
  revision: idSchema,
  digest: digestSchema,
  file_count: z.int(),
  /** Sum of the contents' UTF-8 bytes. */
  size_bytes: z.int(),
  validation_status: validationStatusSchema,
  warnings: z.array(packageProblemSchema),
  created_at: timeSchema,
});
export type Revision = z.infer<typeof revisionSchema>;

export const skillSchema = revisionSchema.extend({ enabled: z.boolean(), updated_at: timeSchema });
export type Skill = z.infer<typeof skillSchema>;

export const validationSchema = z.object({
  name: z.string(),
  validation_status: z.enum(['valid', 'valid_with_warnings', 'invalid']),
  digest: digestSchema.optional(),
  file_count: z.int(),
  size_bytes: z.int(),
  problems: z.array(packageProblemSchema),
  warnings: z.array(packageProblemSchema),
});
export type Validation = z.infer<typeof validationSchema>;

export const packageFileSchema = z.object({ path: z.string(), size_bytes: z.int(), sha256: sha256Schema });
export type PackageFile = z.infer<typeof packageFileSchema>;

export const diffQuerySchema = z.strictObject({ from: idSchema, to: idSchema.optional() });
export const revisionQuerySchema = z.strictObject({ revision: idSchema.optional() });
export const filesQuerySchema = z.strictObject({
  revision: idSchema.optional(),
  path: z.string().optional(),
});

export const fileChangeSchema = z.object({
  path: z.string(),
  change: z.enum(['added', 'removed', 'changed']),
  from_sha256: sha256Schema.optional(),
  to_sha256: sha256Schema.optional(),
  /** Unified diff; absent, with `diff_omitted`, above the stated size. */
  diff: z.string().optional(),
  diff_omitted: z.string().optional(),
});
export type FileChange = z.infer<typeof fileChangeSchema>;
export const skillDiffSchema = z.object({
  name: nameSchema,
  from: idSchema,
  to: idSchema,
  from_digest: digestSchema,
  to_digest: digestSchema,
  files: z.array(fileChangeSchema),
});
export type SkillDiff = z.infer<typeof skillDiffSchema>;

/** Answer in place of bytes above the response limit. */
export const downloadSchema = z.object({
  download_url: z.string(),
  expires_at: timeSchema,
  sha256: sha256Schema,
  size_bytes: z.int(),
});
export type Download = z.infer<typeof downloadSchema>;
