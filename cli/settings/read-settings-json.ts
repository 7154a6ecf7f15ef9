import type * as z from 'zod';
import { CliFailure } from '../failure.ts';
import { readPrivateFile } from './read-private-file.ts';

/** A settings file as its schema wants it, or undefined where there is none. */
export async function readSettingsJson<T extends z.ZodType>(
  path: string,
  schema: T,
): Promise<z.infer<T> | undefined> {
  const text = await readPrivateFile(path);
  if (text === undefined) return undefined;
  const refuse = (why: string, cause: unknown): CliFailure =>
    new CliFailure('unsafe_settings', `${path} is not what was written there: ${why}`, {
      fix: 'remove the file, then start the local server or run `cognition scope use` again',
      cause,
    });
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw refuse('it is not JSON', cause);
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw refuse(`${issue?.path.join('.') || 'the whole'}: ${issue?.message ?? 'unknown'}`, parsed.error);
}
