/** A cgroup for each task, where this user may make one: root, with cgroup v1 or v2. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxProfile } from '../../../../shared/contracts/sandbox-profile.ts';

/** Threads of the daemon and processes of the two sandboxes, on top of the command's. */
const OWN_TASKS = 48;
const PREFIX = 'cognition-';
const REMOVE_ATTEMPTS = 50;
const REMOVE_PAUSE_MS = 10;

export interface TaskCgroup {
  /** Before the process starts anything. */
  add(pid: number): void;
  /** When every process is dead. */
  remove(): Promise<void>;
}

export interface TaskCgroups {
  create(name: string, profile: SandboxProfile): TaskCgroup;
  close(): Promise<void>;
}

interface Controllers {
  /** Folders of this server's own, one a hierarchy. */
  readonly folders: readonly string[];
  readonly version: 1 | 2;
}

/** @returns undefined where no cgroup can be made. */
export function openTaskCgroups(): TaskCgroups | undefined {
  const controllers = openVersion1() ?? openVersion2();
  if (controllers === undefined) return undefined;
  for (const folder of controllers.folders) sweep(join(folder, '..'));
  return {
    create: (name, profile) => {
      const folders = controllers.folders.map((folder) => join(folder, name));
      for (const folder of folders) {
        mkdirSync(folder);
        limit(folder, controllers.version, profile);
      }
      return {
        add: (pid) => {
          for (const folder of folders) writeFileSync(join(folder, 'cgroup.procs'), String(pid));
        },
        remove: async () => {
          for (const folder of folders) await removeFolder(folder);
        },
      };
    },
    close: async () => {
      for (const folder of controllers.folders) await removeFolder(folder);
    },
  };
}

function limit(folder: string, version: 1 | 2, profile: SandboxProfile): void {
  const set = (file: string, value: number): void => {
    const path = join(folder, file);
    // Not every kernel counts swap, and version 1 keeps memory and processes apart.
    if (existsSync(path)) writeFileSync(path, String(value));
  };
  set('pids.max', profile.max_processes + OWN_TASKS);
  if (version === 2) {
    set('memory.max', profile.memory_bytes);
    set('memory.swap.max', 0);
  } else {
    set('memory.limit_in_bytes', profile.memory_bytes);
    set('memory.memsw.limit_in_bytes', profile.memory_bytes);
  }
}

/** Below our own group, so that what limits the server limits its tasks. */
function openVersion1(): Controllers | undefined {
  const own = readFileSync('/proc/self/cgroup', 'utf8');
  const folders: string[] = [];
  for (const controller of ['memory', 'pids']) {
    const group = new RegExp(`^\\d+:(?:[^:]*,)?${controller}(?:,[^:]*)?:(.*)$`, 'm').exec(own)?.[1];
    const mount = `/sys/fs/cgroup/${controller}`;
    if (group === undefined || !existsSync(mount)) return undefined;
    const parent = existsSync(join(mount, group)) ? join(mount, group) : mount;
    const folder = tryMake(parent);
    if (folder === undefined) return undefined;
    folders.push(folder);
  }
  return { folders, version: 1 };
}

/** At the root, the only group that may hold processes and hand out controllers at once. */
function openVersion2(): Controllers | undefined {
  const mount = '/sys/fs/cgroup';
  if (!existsSync(join(mount, 'cgroup.controllers'))) return undefined;
  try {
    writeFileSync(join(mount, 'cgroup.subtree_control'), '+memory +pids');
    const folder = tryMake(mount);
    if (folder === undefined) return undefined;
    writeFileSync(join(folder, 'cgroup.subtree_control'), '+memory +pids');
    return { folders: [folder], version: 2 };
  } catch {
    return undefined;
  }
}

/** A process can have several runtimes. */
let opened = 0;

function tryMake(parent: string): string | undefined {
  opened += 1;
  const folder = join(parent, `${PREFIX}${process.pid}-${opened}`);
  try {
    mkdirSync(folder, { recursive: true });
    return folder;
  } catch {
    return undefined;
  }
}

/** What servers that were killed have left: their tasks died with them. */
function sweep(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = name.startsWith(PREFIX) ? /^(\d+)-\d+$/.exec(name.slice(PREFIX.length))?.[1] : undefined;
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    const folder = join(parent, name);
    const children = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    for (const path of [...children.map((child) => join(folder, child.name)), folder]) {
      try {
        rmdirSync(path);
      } catch {
        // Somebody still dies in it; the next server removes it.
      }
    }
  }
}

async function removeFolder(folder: string): Promise<void> {
  for (let attempt = 1; existsSync(folder); attempt += 1) {
    try {
      rmdirSync(folder);
      return;
    } catch (error) {
      if (attempt === REMOVE_ATTEMPTS) throw error;
      await sleep(REMOVE_PAUSE_MS);
    }
  }
}
