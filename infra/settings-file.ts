import * as z from 'zod';
import { InvalidSettings } from '../shared/contracts/given-settings.ts';

const contextSchema = z.looseObject({ settings: z.string().min(1).optional() });

/**
 * The file that `-c settings=<file>` names; the CDK's command hands its context over in the environment.
 * @throws InvalidSettings when it names something else.
 */
export function settingsFile(environment: Readonly<Record<string, string | undefined>>): string | undefined {
  const context = contextSchema.safeParse(JSON.parse(environment.CDK_CONTEXT_JSON ?? '{}'));
  if (context.success) return context.data.settings;
  throw new InvalidSettings(['-c settings is the name of a file: -c settings=<file>']);
}
