import { readFileSync } from 'node:fs';
import type * as z from 'zod';
import { InvalidSettings } from '../../shared/contracts/settings.ts';

/**
 * A JSON file that a setting names.
 * @throws InvalidSettings that names the setting, the file and every place in it.
 */
export function readSettingsFile<T extends z.ZodType>(setting: string, file: string, schema: T): z.output<T> {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'unreadable';
    throw new InvalidSettings([`${setting}: ${file} is not a JSON file that can be read (${reason})`]);
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  throw new InvalidSettings(
    parsed.error.issues.map(({ path, message }) => `${setting}: ${file} at /${path.join('/')}: ${message}`),
  );
}
