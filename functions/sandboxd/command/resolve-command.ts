/** What to start for a request: a script by its first line or its suffix, or the argv as it is. */
import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import type { ExecRequest } from '../../../shared/contracts/daemon.ts';
import { DaemonError, errnoOf } from '../daemon-error.ts';
import { safePath } from '../materialize/safe-path.ts';

/** What the kernel reads of a file to find its interpreter. */
const FIRST_LINE_BYTES = 256;
/** Sources come without a package.json, and nobody asked for advice on stderr. */
const NODE_ARGS = ['--disable-warning=ExperimentalWarning', '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON'];

export interface CommandFolders {
  readonly skills: string;
  readonly node: string;
}

/** @throws DaemonError `not_found` for a script that is not in the sealed package. */
export function resolveCommand(folders: CommandFolders, command: ExecRequest['command']): string[] {
  const argv = 'argv' in command ? command.argv : scriptArgv(folders, command);
  if (argv.some((arg) => arg.includes('\0') || !arg.isWellFormed()) || argv[0] === '') {
    throw new DaemonError('bad_request', 'an argument has a NUL or a lone surrogate, or names no program');
  }
  return argv;
}

function scriptArgv(
  folders: CommandFolders,
  command: { skill: string; script: string; args: string[] },
): string[] {
  const path = `${folders.skills}/${command.skill}/${safePath(command.script)}`;
  const head = readHead(path, `script ${JSON.stringify(command.script)} of skill ${command.skill}`);
  return [...interpreterOf(folders, path, head), path, ...command.args];
}

function interpreterOf(folders: CommandFolders, path: string, head: string): string[] {
  if (head.startsWith('#!')) {
    const line = head.slice(2).split('\n', 1)[0] ?? '';
    // The kernel would look for an interpreter whose name ends in a carriage return.
    if (!line.endsWith('\r')) return [];
    const [, interpreter = '', argument = ''] = /^[ \t]*([^ \t]*)[ \t]*(.*?)[ \t]*\r$/.exec(line) ?? [];
    if (interpreter !== '') return argument === '' ? [interpreter] : [interpreter, argument];
  }
  const suffix = /\.[a-z]+$/.exec(path)?.[0];
  if (suffix === '.py') return ['python3'];
  if (suffix === '.sh') return [existsSync('/usr/bin/bash') ? 'bash' : 'sh'];
  if (suffix === '.js' || suffix === '.mjs' || suffix === '.ts') return [folders.node, ...NODE_ARGS];
  return [];
}

function readHead(path: string, what: string): string {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (cause) {
    if (!['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errnoOf(cause) ?? '')) throw cause;
    throw new DaemonError('not_found', `there is no ${what}`, { cause });
  }
  try {
    if (!fstatSync(file).isFile()) throw new DaemonError('not_found', `there is no ${what}: it is a folder`);
    const head = Buffer.alloc(FIRST_LINE_BYTES);
    return head.toString('latin1', 0, readSync(file, head, 0, head.length, 0));
  } finally {
    closeSync(file);
  }
}
