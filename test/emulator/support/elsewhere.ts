/**
 * A place on this machine that loopback does not reach, as a function in a container is: a network namespace of its own,
 * joined to this one by a pair of interfaces. Undefined where none may be made.
 */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';

export interface Elsewhere {
  /** This machine, as it is known there. */
  readonly host: string;
  /** Runs a program there. @returns what it prints; undefined when it fails. */
  run(program: string, ...args: readonly string[]): string | undefined;
  close(): void;
}

const run = (program: string, ...args: readonly string[]): string | undefined => {
  const { status, stdout } = spawnSync(program, args, { encoding: 'utf8', timeout: 30_000 });
  return status === 0 ? stdout : undefined;
};
const ip = (...args: readonly string[]): boolean => run('ip', ...args) !== undefined;

export function openElsewhere(): Elsewhere | undefined {
  const number = randomInt(1, 250);
  const [space, here, there] = [`cognition${number}`, `cogn${number}a`, `cogn${number}b`];
  const host = `10.213.${number}.1`;
  const made =
    ip('netns', 'add', space) &&
    ip('link', 'add', here, 'type', 'veth', 'peer', 'name', there) &&
    ip('link', 'set', there, 'netns', space) &&
    ip('address', 'add', `${host}/30`, 'dev', here) &&
    ip('link', 'set', here, 'up') &&
    ip('netns', 'exec', space, 'ip', 'address', 'add', `10.213.${number}.2/30`, 'dev', there) &&
    ip('netns', 'exec', space, 'ip', 'link', 'set', there, 'up');
  const close = (): void => {
    ip('link', 'delete', here);
    ip('netns', 'delete', space);
  };
  if (!made) {
    close();
    return undefined;
  }
  return { host, run: (program, ...args) => run('ip', 'netns', 'exec', space, program, ...args), close };
}
