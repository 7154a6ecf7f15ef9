/** Starts the standalone server as a process of its own, as `npm run local` does, in folders of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SERVER_COMMAND } from '../../infra/local/server-command.ts';
import type { TestTarget } from './api.ts';

export interface StandaloneProcess {
  readonly target: TestTarget;
  readonly process: ChildProcess;
  readonly folder: string;
  /** Log lines so far. */
  log(): string;
  /** SIGTERM, and waits for the end. */
  stop(): Promise<void>;
  /** SIGKILL: what a crash is. The folder stays. */
  kill(): Promise<void>;
}

export function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'cognition-test-'));
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/**
 * @param folder of a former server, to go on with its data.
 * @param command starts the server; default: this Node, as `npm run local` does.
 */
export async function startStandalone(
  env: Record<string, string> = {},
  folder: string = newFolder(),
  command: readonly [string, ...string[]] = [process.execPath, ...SERVER_COMMAND],
): Promise<StandaloneProcess> {
  const configDir = join(folder, 'config');
  const localFile = join(configDir, 'local.json');
  rmSync(localFile, { force: true });
  let log = '';
  const [program, ...args] = command;
  const child = spawn(program, args, {
    env: {
      ...process.env,
      COGNITION_PORT: '0',
      COGNITION_DATA_DIR: join(folder, 'data'),
      COGNITION_CONFIG_DIR: configDir,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.on('data', (chunk) => {
    log += chunk;
  });
  child.stderr.on('data', (chunk) => {
    log += chunk;
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const deadline = Date.now() + 30_000;
  while (!existsSync(localFile)) {
    if (child.exitCode !== null || Date.now() > deadline)
      throw new Error(`the server did not start:\n${log}`);
    await sleep(20);
  }
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await ended;
  };
  return {
    target: readTarget(localFile),
    process: child,
    folder,
    log: () => log,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

function readTarget(localFile: string): TestTarget {
  const local = JSON.parse(readFileSync(localFile, 'utf8'));
  const credentials = readFileSync(local.credentials_file, 'utf8');
  const value = (key: string): string =>
    new RegExp(`^${key}\\s*=\\s*(\\S+)`, 'm').exec(credentials)?.[1] ?? '';
  return {
    endpoint: local.endpoint,
    region: local.region,
    access_key_id: value('aws_access_key_id'),
    secret_access_key: value('aws_secret_access_key'),
  };
}
