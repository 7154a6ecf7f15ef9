import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const PROGRAMS = fileURLToPath(new URL('../local/programs/', import.meta.url));

export type Program = ChildProcessByStdio<null, Readable, Readable>;

/** A program of test/local/programs in a process of its own. */
export function startProgram(name: string, ...args: readonly string[]): Program {
  return spawn(process.execPath, [`${PROGRAMS}${name}`, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Resolves at the first whole line on stdout that matches. */
export async function lineFrom(program: Program, pattern: RegExp): Promise<string> {
  let text = '';
  for await (const chunk of program.stdout.iterator({ destroyOnReturn: false })) {
    text += chunk;
    const line = text.split('\n').find((each, index, all) => index < all.length - 1 && pattern.test(each));
    if (line !== undefined) return line;
  }
  throw new Error(`the program ended without a line like ${pattern}: ${text}`);
}

export async function killAndWait(program: Program): Promise<void> {
  const ended = new Promise((resolve) => program.once('exit', resolve));
  program.kill('SIGKILL');
  await ended;
}

const SMALL_DISK = '/mnt';
const onSmallDisk = (bytes: number, ...command: readonly string[]) =>
  spawnSync('bwrap', ['--dev-bind', '/', '/', '--size', String(bytes), '--tmpfs', SMALL_DISK, ...command], {
    encoding: 'utf8',
    timeout: 60_000,
  });

/** Whether this machine lets us mount a disk of a few megabytes for one process. */
export const hasSmallDisk = (): boolean => onSmallDisk(4_096, 'true').status === 0;

/** A program of test/local/programs, given a folder on a disk of that many bytes. @returns its stdout as JSON. */
export function runOnSmallDisk(bytes: number, name: string): unknown {
  const { status, stdout, stderr } = onSmallDisk(bytes, process.execPath, `${PROGRAMS}${name}`, SMALL_DISK);
  if (status !== 0) throw new Error(`${name} failed: ${stderr}`);
  return JSON.parse(stdout);
}
