/** Bodies of answers that are lists or pairs of the contracts' schemas. */
import * as z from 'zod';
import { agentSchema } from '../../shared/contracts/agent.ts';
import { eventSchema } from '../../shared/contracts/event.ts';
import { manifestSchema } from '../../shared/contracts/manifest.ts';
import { digestSchema, idSchema } from '../../shared/contracts/names.ts';
import { artifactSchema, runSummarySchema } from '../../shared/contracts/run.ts';
import { packageFileSchema, revisionSchema, skillSchema } from '../../shared/contracts/skill.ts';

const page = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), next_cursor: z.string().optional() });

export const skillPageSchema = page(skillSchema);
export const revisionPageSchema = page(revisionSchema);
export const agentPageSchema = page(agentSchema);
export const runPageSchema = page(runSummarySchema);
export const artifactListSchema = z.object({ items: z.array(artifactSchema) });
export const fileListSchema = z.object({ revision: idSchema, items: z.array(packageFileSchema) });
export const eventListSchema = z.object({ items: z.array(eventSchema), run_ended: z.boolean() });
export const pinnedManifestSchema = z.object({ manifest: manifestSchema, manifest_digest: digestSchema });
