/** What was deployed as the code of each function: the templates say in which folder of the CDK's output it is. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';

const resourceSchema = z.object({
  Type: z.literal('AWS::Lambda::Function'),
  Properties: z.object({ FunctionName: z.string() }),
  Metadata: z.object({ 'aws:asset:path': z.string() }),
});
const templateSchema = z.object({ Resources: z.record(z.string(), z.unknown()) });

/** @returns a folder for each function, by its name in the function table. */
export function deployedBundles(cdkOut: string, deployment: string): Record<string, string> {
  const folders: Record<string, string> = {};
  for (const file of readdirSync(cdkOut).filter((name) => name.endsWith('.template.json'))) {
    const { Resources } = templateSchema.parse(JSON.parse(readFileSync(join(cdkOut, file), 'utf8')));
    for (const resource of Object.values(Resources)) {
      const { data } = resourceSchema.safeParse(resource);
      if (data === undefined || !data.Properties.FunctionName.startsWith(`${deployment}-`)) continue;
      const name = data.Properties.FunctionName.slice(deployment.length + 1);
      folders[name] = join(cdkOut, data.Metadata['aws:asset:path']);
    }
  }
  return folders;
}
