/** What the price model looks at in a synthesized CloudFormation template. */
import * as z from 'zod';

const templateSchema = z.object({
  Resources: z.record(
    z.string(),
    z.object({ Type: z.string(), Properties: z.record(z.string(), z.unknown()).default({}) }),
  ),
});

export interface PricedResource {
  readonly id: string;
  readonly type: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** All resources of all stacks. */
export function resourcesOf(templates: readonly unknown[]): PricedResource[] {
  return templates.flatMap((template) =>
    Object.entries(templateSchema.parse(template).Resources).map(([id, { Type, Properties }]) => ({
      id,
      type: Type,
      properties: Properties,
    })),
  );
}
