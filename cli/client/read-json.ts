import type * as z from 'zod';
import { TransportError } from './client-errors.ts';

/** The body as the schema wants it; an answer that is not so is a fault of the server, or not our server. */
export function readJson<T extends z.ZodType>(
  answer: { readonly status: number; readonly bytes: Buffer },
  schema: T,
): z.infer<T> {
  let json: unknown;
  try {
    json = JSON.parse(answer.bytes.toString('utf8'));
  } catch (cause) {
    throw new TransportError('unexpected_answer', `the answer (status ${answer.status}) is not JSON`, {
      cause,
    });
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? 'the whole' : issue.path.join('.');
  throw new TransportError(
    'unexpected_answer',
    `the answer is not what this version expects, at ${where}: ${issue?.message ?? 'unknown'}`,
    { cause: parsed.error },
  );
}
