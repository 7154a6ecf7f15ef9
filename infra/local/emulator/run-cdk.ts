/** One command of the CDK's CLI, with the app that it runs. */
import { spawn } from 'node:child_process';

export interface CdkCommand {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Ends it, as Ctrl-C would. */
  readonly signal?: AbortSignal | undefined;
  /** Killed as soon as it prints the text, and expected to be. */
  readonly killAt?: string;
}

export class CdkFailure extends Error {
  override readonly name = 'CdkFailure';

  constructor(args: readonly string[], output: string) {
    super(`\`cdk ${args.join(' ')}\` failed:\n${output.slice(-4_000)}`);
  }
}

/** @returns what it printed. @throws CdkFailure when it ends otherwise than expected. */
export function runCdk({ args, env, cwd, signal, killAt }: CdkCommand): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('cdk', args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const end = (): void => signalGroup(child.pid, 'SIGTERM');
    if (signal?.aborted === true) end();
    signal?.addEventListener('abort', end, { once: true });
    let text = '';
    const hear = (chunk: unknown): void => {
      text += chunk;
      if (killAt !== undefined && text.includes(killAt)) signalGroup(child.pid, 'SIGKILL');
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('error', reject);
    child.once('close', (code, endedBy) => {
      signal?.removeEventListener('abort', end);
      const expected = killAt === undefined ? code === 0 : endedBy === 'SIGKILL';
      if (expected) resolve(text);
      else reject(new CdkFailure(args, text));
    });
  });
}

/** The app is a process of the CLI's, and of the same group. */
function signalGroup(pid: number | undefined, name: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch {
    // It has ended meanwhile.
  }
}
