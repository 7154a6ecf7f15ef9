/**
 * Commands with no isolation at all, for development where no sandbox can be had, behind an explicit setting. A
 * command is a process group here: whatever leaves it lives on, and sees and reaches all that its user does.
 */
import { Duplex } from 'node:stream';
import type { Architecture } from '../seccomp/syscall-numbers.ts';
import type { CommandDriver, CommandLimits } from './command-driver.ts';
import { COMMAND_INIT } from './command-init.ts';
import { initArgs } from './init-args.ts';
import { collectText, readyCommand } from './init-process.ts';

const CONTROL_FD = 3;

export interface UnsafeDriverOptions {
  readonly architecture: Architecture;
  readonly limits: CommandLimits;
  readonly workspace: string;
}

export function createUnsafeDriver({ architecture, limits, workspace }: UnsafeDriverOptions): CommandDriver {
  const init = initArgs({ architecture, limits, control: String(CONTROL_FD), isolated: false });
  return {
    prepare: async () => {
      // Not imported: a daemon with isolation starts no process, and does without the 3 ms that this takes to load.
      const child = process
        .getBuiltinModule('node:child_process')
        .spawn('/usr/bin/perl', ['-e', COMMAND_INIT, ...init], {
          cwd: workspace,
          env: {},
          detached: true,
          stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
        });
      const control = child.stdio[CONTROL_FD];
      if (!(control instanceof Duplex) || child.stderr === null) throw new Error('the init has no pipes');
      const said = collectText(child.stderr);
      const gone = new Promise<string>((resolve) => {
        child.once('error', (error) => resolve(`the init could not be started: ${error.message}`));
        child.once('exit', (code, signal) => resolve(`the init ended with ${signal ?? code}: ${said()}`));
      });
      return await readyCommand({
        control,
        init_pid: Promise.resolve(child.pid ?? 0),
        gone,
        check: () => undefined,
        kill_group: true,
      });
    },
  };
}
