import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { CognitionError } from '../../../../shared/domain/cognition-error.ts';

/** The one place that tasks themselves have it in, too. */
const PATH = '/usr/bin/bwrap';
const INIT_PATH = '/usr/bin/perl';

export interface Bubblewrap {
  readonly path: string;
  /** From 0.8 on. */
  readonly disable_userns: boolean;
}

async function versionText(): Promise<string> {
  try {
    return (await promisify(execFile)(PATH, ['--version'])).stdout;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `runs need ${PATH}, which cannot be started (${reason}): install bubblewrap again`;
    throw new CognitionError('sandbox_unavailable', message, { cause });
  }
}

/** @throws CognitionError `sandbox_unavailable` */
export async function findBubblewrap(): Promise<Bubblewrap> {
  for (const [path, name] of [
    [PATH, 'bubblewrap'],
    [INIT_PATH, 'perl'],
  ] as const) {
    if (existsSync(path)) continue;
    const fix = `install ${name}, e.g. \`sudo apt-get install ${name}\``;
    throw new CognitionError('sandbox_unavailable', `runs need ${path}: ${fix}`);
  }
  const stdout = await versionText();
  const [, major = '0', minor = '0'] = /(\d+)\.(\d+)/.exec(stdout) ?? [];
  const version = Number(major) * 1_000 + Number(minor);
  if (version < 6) {
    const message = `runs need bubblewrap 0.6 or later; this is ${stdout.trim()}: upgrade it`;
    throw new CognitionError('sandbox_unavailable', message);
  }
  return { path: PATH, disable_userns: version >= 8 };
}
