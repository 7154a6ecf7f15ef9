/** Starts an init as a child of the daemon, where no task has started one beside it. */
import { Duplex } from 'node:stream';
import { collectText } from './init-process.ts';

/** Of the control channel, as the init finds it. */
export const CONTROL_FD = 3;

export interface SpawnedInit {
  readonly control: Duplex;
  readonly pid: number;
  /** Resolves, with words for a log, when the init itself has ended. */
  readonly exited: Promise<string>;
}

/** @throws Error when nothing could be started. */
export function spawnInit(program: string, args: readonly string[], cwd: string): SpawnedInit {
  // Not imported: a daemon with namespaces starts no process, and does without the 3 ms that this takes to load.
  const child = process
    .getBuiltinModule('node:child_process')
    .spawn('/usr/bin/perl', ['-e', program, ...args], {
      cwd,
      env: {},
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    });
  const control = child.stdio[CONTROL_FD];
  if (!(control instanceof Duplex) || child.stderr === null) throw new Error('the init has no pipes');
  const said = collectText(child.stderr);
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`the init could not be started: ${error.message}`));
    child.once('exit', (code, signal) => resolve(`the init ended with ${signal ?? code}: ${said()}`));
  });
  return { control, pid: child.pid ?? 0, exited };
}
