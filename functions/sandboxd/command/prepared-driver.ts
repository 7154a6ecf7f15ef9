/** The sandbox that the task has started beside the daemon (task-entry.ts): one, for the one command of a run. */
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { CommandDriver } from './command-driver.ts';
import { checkCommandIdentity, NAMESPACED_IDENTITY } from './command-identity.ts';
import { collectText, readyCommand, sendSignal } from './init-process.ts';

export interface PreparedDriverOptions {
  /** Descriptors of control channel, report and stderr. */
  readonly fds: readonly [control: number, report: number, stderr: number];
  /** Seccomp filters around the daemon; the command must have one more. */
  readonly task_filters: number;
}

export function createPreparedDriver(options: PreparedDriverOptions): CommandDriver {
  let used = false;
  return {
    prepare: async () => {
      if (used) throw new Error('a sandbox has one command, and has had it');
      used = true;
      const [control, report, stderr] = options.fds;
      const said = collectText(readEnd(stderr));
      const reported = readReport(readEnd(report));
      return await readyCommand({
        control: new Socket({ fd: control, readable: true, writable: true }),
        init_pid: reported.init_pid,
        gone: reported.ended.then(() => `bubblewrap has ended: ${said()}`),
        check: (facts) => checkCommandIdentity(facts, NAMESPACED_IDENTITY, options.task_filters),
        // The kernel kills all of a namespace with its init.
        kill: (init) => sendSignal(init, 'SIGKILL'),
      });
    },
  };
}

const readEnd = (fd: number): Socket => new Socket({ fd, readable: true, writable: false });

/**
 * bubblewrap reports the number of its init at once, and holds the pipe to its own end; that comes when it has reaped
 * the init, and the kernel lets an init be reaped only when every other process of its namespace is dead.
 */
function readReport(report: Readable): { init_pid: Promise<number>; ended: Promise<void> } {
  const pid = Promise.withResolvers<number>();
  const ended = Promise.withResolvers<void>();
  const text = collectText(report, () => {
    const found = /"child-pid": (\d+)/.exec(text())?.[1];
    if (found !== undefined) pid.resolve(Number(found));
  });
  report.once('close', () => ended.resolve());
  return { init_pid: pid.promise, ended: ended.promise };
}
