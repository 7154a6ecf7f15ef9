/**
 * Commands of a container, which may make no namespaces: another user than the daemon's, with every right taken away
 * and a seccomp filter. One command at a time, because the user is what its processes are known by.
 */
import type { Architecture } from '../seccomp/syscall-numbers.ts';
import type { CommandDriver, CommandLimits } from './command-driver.ts';
import { COMMAND_UID, CONTAINER_IDENTITY, checkCommandIdentity } from './command-identity.ts';
import { CONTAINER_INIT, CONTAINER_LAUNCHER } from './container-init.ts';
import { launcherArgs } from './init-args.ts';
import { readyCommand, sendSignal } from './init-process.ts';
import { endProcessesOfUser } from './processes-of-user.ts';
import { CONTROL_FD, spawnInit } from './spawn-init.ts';

export interface ContainerDriverOptions {
  readonly architecture: Architecture;
  readonly limits: CommandLimits;
  readonly workspace: string;
  /** File of the command's seccomp program. */
  readonly seccomp_file: string;
  /** Seccomp filters around the daemon; the command must have one more. */
  readonly task_filters: number;
}

export function createContainerDriver(options: ContainerDriverOptions): CommandDriver {
  const identity = [...setprivArgs(options.seccomp_file), '--', '/usr/bin/perl', '-e', CONTAINER_LAUNCHER];
  const launcher = [...identity, 'FACTS', 'FRAME', 'OUT', 'ERR'];
  const args = [String(CONTROL_FD), String(COMMAND_UID), ...launcher];
  const limits = launcherArgs(options.architecture, options.limits);
  return {
    prepare: async () => {
      const { control, pid, exited } = spawnInit(CONTAINER_INIT, [...args, ...limits], options.workspace);
      return await readyCommand({
        control,
        init_pid: Promise.resolve(pid),
        // The init ends when it finds no process of the command any more. Should it have been killed itself, as memory
        // ran short, this finds them.
        gone: exited.then(async (reason) => {
          await endProcessesOfUser(COMMAND_UID);
          return reason;
        }),
        check: (facts) => checkCommandIdentity(facts, CONTAINER_IDENTITY, options.task_filters),
        kill: (init) => sendSignal(init, 'SIGTERM'),
      });
    },
  };
}

/** util-linux 2.41 or later: an older setpriv knows no filter, and starts nothing. */
const setprivArgs = (seccompFile: string): string[] => [
  '/usr/bin/setpriv',
  `--reuid=${COMMAND_UID}`,
  `--regid=${COMMAND_UID}`,
  '--clear-groups',
  '--inh-caps=-all',
  '--ambient-caps=-all',
  '--bounding-set=-all',
  '--no-new-privs',
  `--seccomp-filter=${seccompFile}`,
];
