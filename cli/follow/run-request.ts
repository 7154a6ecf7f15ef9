import { resolve } from 'node:path';
import type * as z from 'zod';
import { LIMITS } from '../../shared/contracts/limits.ts';
import type { createRunSchema } from '../../shared/contracts/run.ts';
import type { Client } from '../client/create-client.ts';
import { CliFailure, usage } from '../failure.ts';
import type { Session } from '../session.ts';
import { readBounded, readStream } from './read-bounded.ts';

export interface RunOptions {
  readonly agent: string;
  readonly skill: string | undefined;
  readonly script: string | undefined;
  readonly args: readonly string[];
  /** A file, or `-`. */
  readonly stdin: string | undefined;
  /** Each `PATH=FILE`. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** Each `NAME=VALUE`. */
  readonly env: readonly string[];
  readonly timeout: string | undefined;
}

type RunRequest = z.input<typeof createRunSchema>;

/** The request that the options mean. Checks all of them, then uploads the inputs. */
export async function runRequest(options: RunOptions, client: Client, session: Session): Promise<RunRequest> {
  const { io } = session;
  const env = Object.fromEntries(options.env.map((text) => splitAt(text, '--env', 'NAME=VALUE')));
  const timeout = timeoutOf(options.timeout);
  const files = options.inputs.map((text) => splitAt(text, '--input', 'PATH=FILE'));
  const contents = await Promise.all(
    files.map(async ([path, file]) => ({
      path,
      bytes: await readBounded(resolve(io.cwd, file), LIMITS.inputBytes, '--input'),
    })),
  );
  const stdin = options.stdin === undefined ? undefined : await stdinText(options.stdin, session);
  const command = await commandOf(options, client);
  const inputs: { artifact_id: string; path: string }[] = [];
  for (const { path, bytes } of contents) {
    const { artifact_id } = await client.createArtifact(bytes, 'application/octet-stream');
    inputs.push({ artifact_id, path });
  }
  return {
    agent: options.agent,
    command,
    env,
    inputs,
    ...(stdin === undefined ? {} : { stdin }),
    ...(options.outputs.length === 0 ? {} : { outputs: [...options.outputs] }),
    ...(timeout === undefined ? {} : { timeout_seconds: timeout }),
  };
}

function splitAt(text: string, option: string, form: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw usage(`${option} ${JSON.stringify(text)} is not ${form}`);
  return [text.slice(0, at), text.slice(at + 1)];
}

function timeoutOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > LIMITS.commandTimeoutSecondsMax) {
    throw usage(`--timeout is a number of seconds from 1 to ${LIMITS.commandTimeoutSecondsMax}`);
  }
  return seconds;
}

async function stdinText(source: string, session: Session): Promise<string> {
  const { io } = session;
  const bytes =
    source === '-'
      ? await readStream(io.stdin, LIMITS.stdinBytes, '--stdin')
      : await readBounded(resolve(io.cwd, source), LIMITS.stdinBytes, '--stdin');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new CliFailure('invalid_file', `--stdin ${source} is not UTF-8 text`, {
      fix: 'save it as UTF-8, or give it as a file with --input PATH=FILE',
      cause,
    });
  }
}

async function commandOf(options: RunOptions, client: Client): Promise<RunRequest['command']> {
  if (options.skill === undefined) {
    if (options.args.length === 0) {
      throw usage('nothing to run', 'give --skill NAME --script PATH, or a program after --');
    }
    return { argv: [...options.args] };
  }
  const script = options.script ?? (await onlyScript(options.skill, client));
  return { skill: options.skill, script, args: [...options.args] };
}

async function onlyScript(skill: string, client: Client): Promise<string> {
  const { items } = await client.getSkillFiles(skill);
  const scripts = items.map(({ path }) => path).filter((path) => /^scripts\/[^/]+$/.test(path));
  const [only] = scripts;
  if (only !== undefined && scripts.length === 1) return only;
  throw usage(
    `${skill} has ${scripts.length === 0 ? 'nothing' : 'more than one file'} under scripts/`,
    `name one with --script PATH${scripts.length === 0 ? '' : `: ${scripts.slice(0, 10).join(', ')}`}`,
  );
}
