/** The processes of a user, by what the kernel says about each of them. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { sendSignal } from './init-process.ts';

const PAUSE_MS = 5;

/**
 * Living processes any of whose user ids is this one. Dead ones that wait for their parent are left out.
 * Not by the owner of their folder in /proc: that is root for a process that has made itself unreadable.
 */
export function processesOfUser(uid: number): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    const status = readStatus(name);
    const ids = /^Uid:\s*(.*)$/m.exec(status)?.[1]?.split(/\s+/) ?? [];
    return ids.includes(String(uid)) && !/^State:\s*[ZX]/m.test(status) ? [Number(name)] : [];
  });
}

function readStatus(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'latin1');
  } catch {
    // It has ended meanwhile.
    return '';
  }
}

/** Resolves when none is left. The caller may kill them whoever they are. */
export async function endProcessesOfUser(uid: number): Promise<void> {
  for (let left = processesOfUser(uid); left.length > 0; left = processesOfUser(uid)) {
    for (const pid of left) sendSignal(pid, 'SIGKILL');
    await sleep(PAUSE_MS);
  }
}
