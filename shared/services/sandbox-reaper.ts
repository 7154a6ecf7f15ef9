import { LIMITS } from '../contracts/limits.ts';
import type { SandboxProfile } from '../contracts/sandbox-profile.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { SandboxProvisioner, SandboxTask } from '../ports/sandbox-provisioner.ts';
import type { TableStore } from '../ports/table-store.ts';
import type { RunRecords } from './records/run-records.ts';
import type { SandboxRecords } from './records/sandbox-records.ts';

/** Stops tasks that cost money for nobody: found in the provider's own list, so that no lost note hides one. */
export interface SandboxReaper {
  /** @returns ids of the stopped tasks. */
  reap(): Promise<string[]>;
}

export interface SandboxReaperDeps {
  readonly table: TableStore;
  readonly runs: RunRecords;
  readonly sandboxes: SandboxRecords;
  readonly provisioner: SandboxProvisioner;
  readonly profiles: readonly SandboxProfile[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** A sandbox on its way into a pool has no row yet; no launch takes longer than this. */
const GRACE_MS = (LIMITS.launchTimeoutSeconds + 120) * 1_000;

export function createSandboxReaper(deps: SandboxReaperDeps): SandboxReaper {
  const { table, sandboxes, provisioner, clock, logger, metrics } = deps;
  return {
    async reap() {
      // The provider's list first: a run's sandbox is noted before its task exists, so what is read after is newer.
      const tasks = await provisioner.list();
      const old = tasks.filter((task) => isOld(task, clock.now()));
      if (old.length === 0) return [];
      const needed = await neededSandboxes(deps);
      const stopped: string[] = [];
      for (const { task_id, sandbox_id } of old) {
        if (sandbox_id !== undefined && needed.has(sandbox_id)) continue;
        try {
          await provisioner.stop(task_id, 'no run and no pool needs it');
          if (sandbox_id !== undefined) await table.transact([sandboxes.deleteKey(sandbox_id)]);
          stopped.push(task_id);
          metrics.add({ name: 'SandboxesReaped' });
          logger.warn('reaper.stopped', { task_id, sandbox_id });
        } catch (error) {
          const reason = error instanceof Error ? error.message : 'unknown';
          logger.error('reaper.stop_failed', { task_id, sandbox_id, reason });
        }
      }
      return stopped;
    },
  };
}

const isOld = ({ created_at }: SandboxTask, now: number): boolean =>
  created_at === undefined || now - Date.parse(created_at) > GRACE_MS;

async function neededSandboxes({
  runs,
  sandboxes,
  provisioner,
  profiles,
}: SandboxReaperDeps): Promise<ReadonlySet<string>> {
  const needed = new Set<string>();
  // Pools before runs: one that is claimed in between is found with its run.
  for (const profile of profiles) {
    const pooled = await sandboxes.listPooled(profile.name, await provisioner.imageIdentity(profile));
    for (const { row } of pooled) needed.add(row.sandbox_id);
  }
  for await (const { fingerprint, run_id } of runs.listActive()) {
    const sandbox = await sandboxes.get({ fingerprint, run_id });
    if (sandbox !== undefined && !sandbox.row.stopped) needed.add(sandbox.row.sandbox_id);
  }
  return needed;
}
