/**
 * A cgroup for each task, where this user may make one: root, with cgroup v1 or v2. Making and removing one, and moving
 * a process into it, keep the kernel busy for milliseconds: so none of it happens on the main thread, and an
 * empty cgroup serves the next task of its profile.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxProfile } from '../../../../shared/contracts/sandbox-profile.ts';

/** Threads of the daemon and processes of the two sandboxes, on top of the command's. */
const OWN_TASKS = 48;
const PREFIX = 'cognition-';
const EMPTY_ATTEMPTS = 50;
const EMPTY_PAUSE_MS = 10;

export interface TaskCgroup {
  /** Before the process starts anything. Nothing happens when it has ended already. */
  add(pid: number): Promise<void>;
  /** When every process is dead. */
  release(): Promise<void>;
}

export interface TaskCgroups {
  take(profile: SandboxProfile): Promise<TaskCgroup>;
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
  const free = new Map<string, TaskCgroup[]>();
  let made = 0;
  const make = async (profile: SandboxProfile): Promise<TaskCgroup> => {
    made += 1;
    const name = `task-${made}`;
    const folders = controllers.folders.map((folder) => join(folder, name));
    await Promise.all(folders.map((folder) => makeFolder(folder, controllers.version, profile)));
    const cgroup: TaskCgroup = {
      add: async (pid) => {
        await Promise.all(folders.map((folder) => addTo(folder, pid)));
      },
      release: async () => {
        await Promise.all(folders.map(untilEmpty));
        free.get(profile.name)?.push(cgroup);
      },
    };
    return cgroup;
  };
  return {
    take: async (profile) => {
      const [cgroup] = free.get(profile.name)?.splice(-1) ?? [];
      if (!free.has(profile.name)) free.set(profile.name, []);
      return cgroup ?? (await make(profile));
    },
    close: async () => {
      for (const folder of controllers.folders) removeTree(folder);
    },
  };
}

async function makeFolder(folder: string, version: 1 | 2, profile: SandboxProfile): Promise<void> {
  await mkdir(folder);
  const set = async (file: string, value: number): Promise<void> => {
    const path = join(folder, file);
    // Not every kernel counts swap, and version 1 keeps memory and processes apart.
    if (existsSync(path)) await writeFile(path, String(value));
  };
  await set('pids.max', profile.max_processes + OWN_TASKS);
  if (version === 2) {
    await set('memory.max', profile.memory_bytes);
    await set('memory.swap.max', 0);
  } else {
    await set('memory.limit_in_bytes', profile.memory_bytes);
    await set('memory.memsw.limit_in_bytes', profile.memory_bytes);
  }
}

async function addTo(folder: string, pid: number): Promise<void> {
  try {
    await writeFile(join(folder, 'cgroup.procs'), String(pid));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/**
 * Kills what bubblewrap may have left when it was itself killed during its set-up.
 * @throws Error when a process of the task does not die.
 */
async function untilEmpty(folder: string): Promise<void> {
  const processes = join(folder, 'cgroup.procs');
  for (let attempt = 1; ; attempt += 1) {
    const left = await readFile(processes, 'utf8');
    if (left === '') return;
    if (attempt === EMPTY_ATTEMPTS) throw new Error(`processes of a task are still alive in ${folder}`);
    killAll(left);
    await sleep(EMPTY_PAUSE_MS);
  }
}

/** @param processes as cgroup.procs lists them; 0 is one that we cannot see. */
function killAll(processes: string): void {
  for (const pid of processes.split('\n').map(Number)) {
    if (pid <= 1) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It is dead already.
    }
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

/** What servers that were killed have left: empty groups, and a task that was in its set-up at that moment. */
function sweep(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = name.startsWith(PREFIX) ? /^(\d+)-\d+$/.exec(name.slice(PREFIX.length))?.[1] : undefined;
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    killStale(join(parent, name));
    removeTree(join(parent, name));
  }
}

function killStale(folder: string): void {
  for (const task of readdirSync(folder, { withFileTypes: true })) {
    if (task.isDirectory()) killAll(readFileSync(join(folder, task.name, 'cgroup.procs'), 'utf8'));
  }
}

/** A group and the groups in it; what is still in use is left to the next server. */
function removeTree(folder: string): void {
  const children = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const path of [...children.map((child) => join(folder, child.name)), folder]) {
    try {
      rmdirSync(path);
    } catch {
      // Somebody still dies in it.
    }
  }
}
