/**
 * Commands with no isolation at all, for development where no sandbox can be had, behind an explicit setting. A
 * command is a process group here: whatever leaves it lives on, and sees and reaches all that its user does.
 */
import type { Architecture } from '../seccomp/syscall-numbers.ts';
import type { CommandDriver, CommandLimits } from './command-driver.ts';
import { COMMAND_INIT } from './command-init.ts';
import { initArgs } from './init-args.ts';
import { readyCommand, sendSignal } from './init-process.ts';
import { CONTROL_FD, spawnInit } from './spawn-init.ts';

export interface UnsafeDriverOptions {
  readonly architecture: Architecture;
  readonly limits: CommandLimits;
  readonly workspace: string;
}

export function createUnsafeDriver({ architecture, limits, workspace }: UnsafeDriverOptions): CommandDriver {
  const args = initArgs({ architecture, limits, control: String(CONTROL_FD), isolated: false });
  return {
    prepare: async () => {
      const { control, pid, exited } = spawnInit(COMMAND_INIT, args, workspace);
      const kill = (init: number): void => sendSignal(-init, 'SIGKILL');
      const gone = exited.then((reason) => {
        if (pid > 0) kill(pid);
        return reason;
      });
      return await readyCommand({
        control,
        init_pid: Promise.resolve(pid),
        gone,
        check: () => undefined,
        kill,
      });
    },
  };
}
