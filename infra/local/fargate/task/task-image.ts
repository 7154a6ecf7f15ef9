/**
 * The files that every task sees: Node, the daemon, the seccomp programs and a minimal /etc. They are copied, named
 * by their content, to where the user of a task can read them: the server's own folders may be closed to it.
 */
import { createHash } from 'node:crypto';
import { constants, existsSync, statSync } from 'node:fs';
import {
  chmod,
  copyFile,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { COMMAND_INIT } from '../../../../functions/sandboxd/command/command-init.ts';
import { TASK_ENTRY } from '../../../../functions/sandboxd/command/task-entry.ts';
import { seccompPrograms } from '../../../../functions/sandboxd/seccomp/seccomp-programs.ts';
import { buildSandboxd } from './build-sandboxd.ts';

export interface TaskImage {
  /** Hash over daemon bundle, Node's version and the seccomp programs. */
  readonly hash: string;
  /** Holds bin/node. */
  readonly node: string;
  /** Holds sandboxd.cjs and command.bpf. */
  readonly daemon: string;
  readonly etc: string;
  /** File of the seccomp program around a task. */
  readonly task_seccomp: string;
}

const ETC: Readonly<Record<string, string>> = {
  passwd: 'root:x:0:0:root:/nonexistent:/usr/sbin/nologin\nnobody:x:65534:65534:nobody:/workspace:/bin/sh\n',
  group: 'root:x:0:\nnogroup:x:65534:\n',
  hosts: '127.0.0.1 localhost\n',
  timezone: 'Etc/UTC\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
};

/** @param folder exists, belongs to this user alone and can be entered by all. */
export async function stageTaskImage(folder: string): Promise<TaskImage> {
  const bundle = await buildSandboxd();
  const programs = seccompPrograms(process.arch === 'arm64' ? 'arm64' : 'x64');
  const hash = sha256([bundle, TASK_ENTRY, COMMAND_INIT, programs.task, programs.command, process.version]);
  const daemon = await stage(folder, `daemon-${hash.slice(0, 32)}`, async (target) => {
    await writeFile(join(target, 'sandboxd.cjs'), bundle, { mode: 0o444 });
    await writeFile(join(target, 'command.bpf'), programs.command, { mode: 0o444 });
    await writeFile(join(target, 'task.bpf'), programs.task, { mode: 0o444 });
  });
  const node = await stageNode(folder);
  const etc = await stageEtc(folder);
  return { hash, node, daemon, etc, task_seccomp: join(daemon, 'task.bpf') };
}

async function stageNode(folder: string): Promise<string> {
  const { size, mtimeMs } = statSync(process.execPath);
  const key = sha256([process.version, process.arch, `${size} ${mtimeMs}`]).slice(0, 16);
  return await stage(folder, `node-${process.version}-${key}`, async (target) => {
    await mkdir(join(target, 'bin'), { mode: 0o755 });
    const copy = join(target, 'bin', 'node');
    await copyFile(process.execPath, copy, constants.COPYFILE_FICLONE);
    await chmod(copy, 0o555);
  });
}

/** /etc/alternatives leads from awk to mawk and the like; the linker's cache makes programs start faster. */
async function stageEtc(folder: string): Promise<string> {
  const links = await readLinks('/etc/alternatives');
  const cache = existsSync('/etc/ld.so.cache') ? await readFile('/etc/ld.so.cache') : undefined;
  const key = sha256([JSON.stringify(ETC), JSON.stringify(links), cache ?? '']).slice(0, 32);
  return await stage(folder, `etc-${key}`, async (target) => {
    for (const [name, text] of Object.entries(ETC))
      await writeFile(join(target, name), text, { mode: 0o444 });
    if (cache !== undefined) await writeFile(join(target, 'ld.so.cache'), cache, { mode: 0o444 });
    // Without it Node looks through every time zone of the system for the one that is meant.
    await symlink('/usr/share/zoneinfo/Etc/UTC', join(target, 'localtime'));
    await mkdir(join(target, 'alternatives'), { mode: 0o755 });
    for (const [name, to] of links) await symlink(to, join(target, 'alternatives', name));
  });
}

async function readLinks(folder: string): Promise<[string, string][]> {
  const entries = existsSync(folder) ? await readdir(folder, { withFileTypes: true }) : [];
  const links = entries.filter((entry) => entry.isSymbolicLink()).map((entry) => entry.name);
  return await Promise.all(
    links.sort().map(async (name): Promise<[string, string]> => [name, await readlink(join(folder, name))]),
  );
}

/** Filled under a name of its own, then renamed: whoever finds it finds all of it. */
async function stage(folder: string, name: string, fill: (target: string) => Promise<void>): Promise<string> {
  const final = join(folder, name);
  if (existsSync(final)) return final;
  const temporary = join(folder, `.${name}.${process.pid}.${Date.now()}`);
  await mkdir(temporary, { mode: 0o755 });
  try {
    await fill(temporary);
    await chmod(temporary, 0o755);
    await rename(temporary, final);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    // Another server was faster with the same content.
    if (!existsSync(final)) throw error;
  }
  return final;
}

function sha256(parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest('hex');
}
