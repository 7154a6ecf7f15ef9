/** A standalone server that is expected not to start. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { SERVER_COMMAND } from '../../infra/local/server-command.ts';
import { newFolder, removeFolder } from './standalone.ts';

export interface Refusal {
  /** null when it had to be killed because it did start. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export async function refusalOf(env: Record<string, string>): Promise<Refusal> {
  const folder = newFolder();
  const child = spawn(process.execPath, SERVER_COMMAND, {
    env: {
      ...process.env,
      COGNITION_PORT: '0',
      COGNITION_DATA_DIR: `${folder}/data`,
      COGNITION_CONFIG_DIR: `${folder}/config`,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  clearTimeout(timer);
  removeFolder(folder);
  return { code, stdout, stderr };
}
