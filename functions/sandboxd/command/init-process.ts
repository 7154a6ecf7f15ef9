/** A started init, until its command has ended: the part that all forms of the sandbox share. */
import { constants, openSync } from 'node:fs';
import type { Duplex, Readable } from 'node:stream';
import { errnoOf } from '../daemon-error.ts';
import type { CommandEnd, ReadyCommand } from './command-driver.ts';
import { type InitChannel, openInitChannel } from './init-channel.ts';

/** An init that is not ready by then never will be. */
const READY_MS = 10_000;
const TEXT_LENGTH = 4_096;

export interface InitProcess {
  readonly control: Duplex;
  /** Number of the init among the daemon's processes. */
  readonly init_pid: Promise<number>;
  /** Resolves, with words for a log, when every process of the command is dead. */
  readonly gone: Promise<string>;
  /** @throws Error when what the init found is not what must be. */
  check(facts: ReadonlyMap<string, string>): void;
  /** Kills every process of the command, the init among them or after them. */
  kill(init: number): void;
}

/** @throws Error when the init does not get ready, or is not what it must be; it is killed then. */
export async function readyCommand(init: InitProcess): Promise<ReadyCommand> {
  const channel = openInitChannel(init.control);
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`it is not ready after ${READY_MS} ms`)), READY_MS);
  try {
    const gone = init.gone.then((reason) => Promise.reject(new Error(reason)));
    // An init that ends closes its channel first; its last words come after that.
    const ready = channel.ready.catch(() => gone);
    const [pid, facts] = await Promise.race([Promise.all([init.init_pid, ready]), gone, late.promise]);
    init.check(facts);
    return commandOf(channel, init, pid, facts);
  } catch (cause) {
    // An init ends with its channel.
    init.control.destroy();
    throw new Error(`the sandbox of the command is not usable: ${String(cause)}`, { cause });
  } finally {
    clearTimeout(timer);
  }
}

function commandOf(
  channel: InitChannel,
  init: InitProcess,
  pid: number,
  facts: ReadonlyMap<string, string>,
): ReadyCommand {
  let alive = true;
  const ended = Promise.all([channel.status, init.gone]).then(([status, reason]): CommandEnd => {
    alive = false;
    if (status === undefined) return { kind: 'lost', reason };
    const signal = status & 0x7f;
    return signal === 0
      ? { kind: 'exited', code: status >> 8, signal: undefined }
      : { kind: 'exited', code: 128 + signal, signal };
  });
  return {
    stdout: openPipeOf(pid, facts.get('stdout')),
    stderr: openPipeOf(pid, facts.get('stderr')),
    ended,
    start: (spec) => channel.send(spec),
    kill: () => {
      if (alive) init.kill(pid);
    },
  };
}

/** @param target a process, or a group by its negative number; one that is gone already is fine. */
export function sendSignal(target: number, signal: 'SIGKILL' | 'SIGTERM'): void {
  try {
    process.kill(target, signal);
  } catch (error) {
    if (errnoOf(error) !== 'ESRCH') throw error;
  }
}

/** The init made the pipes; as its creator the daemon may open what it has open. */
const openPipeOf = (pid: number, descriptor: string | undefined): number =>
  openSync(`/proc/${pid}/fd/${descriptor}`, constants.O_RDONLY | constants.O_NONBLOCK);

/** What a stream says, up to a length; read to its end. */
export function collectText(stream: Readable, onChange: () => void = () => undefined): () => string {
  let text = '';
  stream.on('data', (chunk: Buffer) => {
    text = (text + chunk.toString('utf8')).slice(0, TEXT_LENGTH);
    onChange();
  });
  stream.on('error', () => undefined);
  return () => text.trim();
}
