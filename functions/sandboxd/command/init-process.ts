/** A started init, until its command has ended: the part that all forms of the sandbox share. */
import type { ChildProcess } from 'node:child_process';
import { constants, openSync } from 'node:fs';
import { Duplex, Readable } from 'node:stream';
import { errnoOf } from '../daemon-error.ts';
import { type Architecture, INIT_CALLS } from '../seccomp/syscall-numbers.ts';
import type { CommandEnd, CommandLimits, ReadyCommand } from './command-driver.ts';
import { type InitChannel, openInitChannel } from './init-channel.ts';

/** An init that is not ready by then never will be. */
const READY_MS = 10_000;
const STDERR_BYTES = 4_096;
/** RLIMIT_* of the kernel. */
const RESOURCE = { fsize: 1, core: 4, nproc: 6, nofile: 7, as: 9, msgqueue: 12 } as const;

/** Arguments of the program in command-init.ts. */
export function initArgs(options: {
  readonly architecture: Architecture;
  readonly limits: CommandLimits;
  readonly isolated: boolean;
}): string[] {
  const { limits } = options;
  const calls = INIT_CALLS[options.architecture];
  const always: [number, number][] = [
    [RESOURCE.fsize, limits.file_bytes],
    [RESOURCE.core, 0],
    [RESOURCE.nofile, limits.max_open_files],
    [RESOURCE.as, limits.memory_bytes],
    [RESOURCE.msgqueue, 0],
  ];
  // Outside a user namespace of its own the whole user would be counted. The init counts as one.
  const rlimits = options.isolated ? [...always, [RESOURCE.nproc, limits.max_processes + 1]] : always;
  return [
    options.isolated ? '1' : '0',
    ...[calls.prlimit, calls.prctl, calls.close_range].map(String),
    ...rlimits.map(([resource, limit]) => `${resource}=${limit}`),
  ];
}

export interface InitProcess {
  /** Number of the init among the daemon's processes. */
  readonly init_pid: Promise<number>;
  /** @throws Error when what the init found is not what must be. */
  check(facts: ReadonlyMap<string, string>): void;
  /** Without a namespace of its own a command is no more than a process group. */
  readonly kill_group: boolean;
}

/** @param child with the control channel as descriptor 3; it must end no earlier than every process of the command. */
export async function readyCommand(child: ChildProcess, init: InitProcess): Promise<ReadyCommand> {
  const [, , stderr, control] = child.stdio;
  if (!(stderr instanceof Readable && control instanceof Duplex)) {
    throw new Error('the pipes to the sandbox of the command are missing');
  }
  const said = collect(stderr, STDERR_BYTES);
  const gone = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`it could not be started: ${error.message}`));
    child.once('exit', (code, signal) => resolve(`it ended with ${signal ?? code}: ${said()}`));
  });
  const channel = openInitChannel(control);
  const timer = setTimeout(() => child.kill('SIGKILL'), READY_MS);
  try {
    const [pid, facts] = await Promise.race([
      Promise.all([init.init_pid, channel.ready]),
      gone.then((reason) => Promise.reject(new Error(reason))),
    ]);
    init.check(facts);
    return commandOf(channel, gone, init.kill_group ? -pid : pid, facts);
  } catch (cause) {
    child.kill('SIGKILL');
    const reason = await gone;
    throw new Error(`the sandbox of the command is not usable: ${String(cause)}; ${reason}`, { cause });
  } finally {
    clearTimeout(timer);
  }
}

function commandOf(
  channel: InitChannel,
  gone: Promise<string>,
  target: number,
  facts: ReadonlyMap<string, string>,
): ReadyCommand {
  let alive = true;
  const ended = Promise.all([channel.status, gone]).then(([status, reason]): CommandEnd => {
    if (target < 0) kill(target);
    alive = false;
    if (status === undefined) return { kind: 'lost', reason };
    const signal = status & 0x7f;
    return signal === 0
      ? { kind: 'exited', code: status >> 8, signal: undefined }
      : { kind: 'exited', code: 128 + signal, signal };
  });
  return {
    stdout: openPipeOf(Math.abs(target), facts.get('stdout')),
    stderr: openPipeOf(Math.abs(target), facts.get('stderr')),
    ended,
    start: (spec) => channel.send(spec),
    kill: () => {
      if (alive) kill(target);
    },
  };
}

function kill(target: number): void {
  try {
    process.kill(target, 'SIGKILL');
  } catch (error) {
    if (errnoOf(error) !== 'ESRCH') throw error;
  }
}

/** The init made the pipes; as its creator the daemon may open what it has open. */
const openPipeOf = (pid: number, descriptor: string | undefined): number =>
  openSync(`/proc/${pid}/fd/${descriptor}`, constants.O_RDONLY | constants.O_NONBLOCK);

function collect(stream: Readable, limit: number): () => string {
  let text = '';
  stream.on('data', (chunk: Buffer) => {
    text = (text + chunk.toString('utf8')).slice(0, limit);
  });
  stream.on('error', () => undefined);
  return () => text.trim();
}
