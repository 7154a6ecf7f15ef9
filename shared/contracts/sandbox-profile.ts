/** Sandbox profiles: the operator's choice of what a command gets. An agent names one. */
import * as z from 'zod';
import { nameSchema } from './names.ts';

const MiB = 1024 * 1024;

export const sandboxProfileSchema = z.strictObject({
  name: nameSchema,
  /** Variables a caller may set; never the ones in FORBIDDEN_ENV. */
  env_names: z.array(z.string()).default([]),
  egress_aliases: z.array(nameSchema).default([]),
  memory_bytes: z
    .int()
    .positive()
    .default(1024 * MiB),
  /** Size of each of the tmpfs mounts /workspace and /outputs; /tmp is half of it. */
  workspace_bytes: z
    .int()
    .positive()
    .default(256 * MiB),
  max_processes: z.int().positive().default(256),
  max_open_files: z.int().positive().default(1024),
});
export type SandboxProfile = z.infer<typeof sandboxProfileSchema>;

export const sandboxProfilesSchema = z
  .array(sandboxProfileSchema)
  .refine(
    (profiles) => new Set(profiles.map((profile) => profile.name)).size === profiles.length,
    'names are unique',
  );
