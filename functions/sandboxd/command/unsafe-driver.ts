/**
 * Commands with no isolation at all, for development where no sandbox can be had, behind an explicit setting. A
 * command is a process group here: whatever leaves it lives on, and sees and reaches all that its user does.
 */
import { spawn } from 'node:child_process';
import type { Architecture } from '../seccomp/syscall-numbers.ts';
import type { CommandDriver, CommandLimits } from './command-driver.ts';
import { COMMAND_INIT } from './command-init.ts';
import { initArgs, readyCommand } from './init-process.ts';

export interface UnsafeDriverOptions {
  readonly architecture: Architecture;
  readonly limits: CommandLimits;
  readonly workspace: string;
}

export function createUnsafeDriver({ architecture, limits, workspace }: UnsafeDriverOptions): CommandDriver {
  const args = ['-e', COMMAND_INIT, ...initArgs({ architecture, limits, isolated: false })];
  return {
    prepare: async () => {
      const child = spawn('/usr/bin/perl', args, {
        cwd: workspace,
        env: {},
        detached: true,
        stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      });
      const init = { init_pid: Promise.resolve(child.pid ?? 0), check: () => undefined, kill_group: true };
      return await readyCommand(child, init);
    },
  };
}
