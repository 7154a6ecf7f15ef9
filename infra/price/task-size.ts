import * as z from 'zod';
import type { TaskSize } from './price-of-runs.ts';
import { resourcesOf } from './template.ts';

const definitionSchema = z.object({
  Family: z.string(),
  Cpu: z.coerce.number(),
  Memory: z.coerce.number(),
});

/** Of the default profile's task definition. @throws Error when the templates have none. */
export function taskSize(templates: readonly unknown[]): TaskSize {
  const definitions = resourcesOf(templates)
    .filter(({ type }) => type === 'AWS::ECS::TaskDefinition')
    .map(({ properties }) => definitionSchema.parse(properties));
  const found = definitions.find(({ Family }) => Family.endsWith('-default'));
  if (found === undefined) throw new Error('no task definition of the default profile');
  return { cpu: found.Cpu / 1_024, memory: found.Memory / 1_024 };
}
