/** The daemon's side of the control channel to a command's init; see command-init.ts for what travels. */
import type { Duplex } from 'node:stream';
import type { CommandSpec } from './command-driver.ts';

/** What an init says about itself is a line; anything longer is not an init. */
const LINE_BYTES = 4_096;

export interface InitChannel {
  /** The key=value pairs of the `ready` line. Rejects when the channel ends without it. */
  readonly ready: Promise<ReadonlyMap<string, string>>;
  /** Raw wait status of the command; undefined when the channel ended without one. */
  readonly status: Promise<number | undefined>;
  send(spec: CommandSpec): void;
}

export function openInitChannel(channel: Duplex): InitChannel {
  const ready = Promise.withResolvers<ReadonlyMap<string, string>>();
  const status = Promise.withResolvers<number | undefined>();
  ready.promise.catch(() => undefined);
  let text = '';
  const onLine = (line: string): void => {
    const [word, ...rest] = line.split(' ');
    if (word === 'ready') ready.resolve(new Map(rest.map(splitPair)));
    else if (word === 'exit' && /^\d{1,5}$/.test(rest[0] ?? '')) status.resolve(Number(rest[0]));
  };
  const onEnd = (): void => {
    ready.reject(new Error('the init of the command ended before it was ready'));
    status.resolve(undefined);
  };
  channel.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      onLine(text.slice(0, end));
      text = text.slice(end + 1);
    }
    if (text.length > LINE_BYTES) channel.destroy();
  });
  channel.on('error', onEnd);
  channel.once('close', onEnd);
  channel.once('end', onEnd);
  return { ready: ready.promise, status: status.promise, send: (spec) => channel.write(frame(spec)) };
}

const splitPair = (pair: string): [string, string] => {
  const at = pair.indexOf('=');
  return [pair.slice(0, at), pair.slice(at + 1)];
};

function frame(spec: CommandSpec): Buffer {
  const env = Object.entries(spec.env).map(([name, value]) => `${name}=${value}`);
  const items = [
    spec.stdin === undefined ? '0' : '1',
    spec.stdin ?? '',
    String(env.length),
    ...env,
    ...spec.argv,
  ];
  const parts: Uint8Array[] = [];
  for (const item of items) {
    const bytes = typeof item === 'string' ? Buffer.from(item, 'utf8') : item;
    parts.push(u32be(bytes.length), bytes);
  }
  const payload = Buffer.concat(parts);
  return Buffer.concat([u32be(payload.length), payload]);
}

function u32be(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
