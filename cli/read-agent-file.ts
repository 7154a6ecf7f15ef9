import { readFile, stat } from 'node:fs/promises';
import { LineCounter, parseDocument } from 'yaml';
import type * as z from 'zod';
import { createAgentSchema } from '../shared/contracts/agent.ts';
import { LIMITS } from '../shared/contracts/limits.ts';
import { CliFailure, usage } from './failure.ts';

/** What an agent's definition takes at most, instructions and escapes among it. */
const MAX_BYTES = LIMITS.instructionsBytes * 4;

/**
 * An agent's definition from a JSON or YAML file. JSON is read as the YAML it is, so that both get the same
 * errors with line and column, and duplicate keys are refused in both.
 * @throws CliFailure
 */
export async function readAgentFile(path: string): Promise<z.input<typeof createAgentSchema>> {
  const info = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw usage(`cannot read ${path}: ${error.code ?? error.message}`, 'name a JSON or YAML file');
  });
  if (!info.isFile()) throw usage(`${path} is not a file`, 'name a JSON or YAML file');
  if (info.size > MAX_BYTES) throw usage(`${path} is larger than ${MAX_BYTES} bytes`);
  const lineCounter = new LineCounter();
  const document = parseDocument(await readText(path), { lineCounter, prettyErrors: false });
  const [broken] = document.errors;
  if (broken !== undefined) {
    const { line, col } = lineCounter.linePos(broken.pos[0]);
    throw invalid(`${path}:${line}:${col}: ${broken.message}`, broken);
  }
  const parsed = createAgentSchema.safeParse(toJs(document, path));
  if (parsed.success) return parsed.data;
  const places = parsed.error.issues.map(
    ({ path: at, message }) => `${at.join('.') || 'the whole'}: ${message}`,
  );
  throw invalid(`${path}: ${places.join('; ')}`, parsed.error);
}

/** Replaced bytes would be published without a word. */
async function readText(path: string): Promise<string> {
  const bytes = await readFile(path);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw invalid(`${path} is not UTF-8 text`, cause);
  }
}

function toJs(document: { toJS: (options: { maxAliasCount: number }) => unknown }, path: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 20 });
  } catch (cause) {
    throw invalid(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }
}

const invalid = (message: string, cause: unknown): CliFailure =>
  new CliFailure('invalid_file', message, { cause, fix: 'see `docs/cli.md` for what an agent file holds' });
