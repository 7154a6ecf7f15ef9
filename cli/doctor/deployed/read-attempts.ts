import * as z from 'zod';
import { type Attempt, attemptSchema } from './attempt.ts';

const lineSchema = z.union([attemptSchema, z.object({ done: z.string() })]);

/**
 * What a script of the conformance skill has printed. It is believed when it says that something was not refused, and
 * only a whole report may say that all was.
 */
export function readAttempts(script: string, stdout: string): Attempt[] {
  const attempts: Attempt[] = [];
  let whole = false;
  for (const line of stdout.split('\n')) {
    if (line === '') continue;
    const parsed = lineSchema.safeParse(readJson(line));
    if (!parsed.success) {
      const detail = `it printed ${JSON.stringify(line.slice(0, 80))}`;
      attempts.push({ group: 'report', attempt: `a line of ${script}`, refused: false, detail });
    } else if ('done' in parsed.data) {
      whole = parsed.data.done === script;
    } else {
      attempts.push(parsed.data);
    }
  }
  if (!whole) {
    const detail = `it ended after ${attempts.length} attempts`;
    attempts.push({ group: 'report', attempt: `cutting ${script} short`, refused: false, detail });
  }
  return attempts;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
