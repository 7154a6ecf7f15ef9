import type { SandboxRow } from '../contracts/rows.ts';
import type { SandboxProfile } from '../contracts/sandbox-profile.ts';
import { newSandboxKeyPair } from '../domain/daemon-signature.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { Logger } from '../ports/logger.ts';
import type { SandboxClient } from '../ports/sandbox-client.ts';
import type { SandboxProvisioner, SandboxTask } from '../ports/sandbox-provisioner.ts';
import { ConditionFailed, type TableStore } from '../ports/table-store.ts';
import type { SandboxRecords, StoredSandbox } from './records/sandbox-records.ts';
import { HEALTH_TIMEOUT_MS, SANDBOX_KEY_SECONDS } from './runs/launch-sandbox.ts';

/** Started sandboxes that belong to nobody, a number for each profile. */
export interface SandboxPool {
  /**
   * Forgets dead and old ones, starts what is missing, and resolves when that is done. Called at the start (which
   * also clears the rows of a former process, whose tasks are gone) and every few seconds. One at a time: a call
   * while another is under way joins it. Profiles take turns, and one whose sandboxes do not start is logged and left
   * until the next call.
   * @param until milliseconds since the epoch, after which no further one is started. Default: no end.
   */
  fill(until?: number): Promise<void>;
  /** A sandbox was taken: fills up again a little later, when the run that took it has its share of the CPU. */
  claimed(): void;
  /** Stops filling, and every sandbox in the pool. */
  drain(): Promise<void>;
}

export interface SandboxPoolDeps {
  readonly table: TableStore;
  readonly sandboxes: SandboxRecords;
  readonly provisioner: SandboxProvisioner;
  readonly client: SandboxClient;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly profiles: readonly SandboxProfile[];
  /** Sandboxes to keep for each profile; 0 is no pool. */
  readonly size: number;
  /** Executions under way: while there are some, filling pauses between sandboxes. Default: none. */
  readonly load?: () => number;
  /** After a claim, in milliseconds; default 150. */
  readonly refillDelayMs?: number;
  /** How long a sandbox may take to answer, in milliseconds; default 60,000. */
  readonly startDeadlineMs?: number;
  /** Between two looks at one that is starting, in milliseconds; default 25. */
  readonly startPollMs?: number;
  /** How many are started at once, of all profiles together; default 1. */
  readonly startsAtOnce?: number;
}

/** Well below the life of the key. */
const MAX_AGE_MS = 12 * 3_600_000;

export function createSandboxPool(deps: SandboxPoolDeps): SandboxPool {
  const { clock, refillDelayMs = 150 } = deps;
  const stopping = new AbortController();
  let filling: Promise<void> | undefined;
  let scheduled = false;

  const fill = (until = Number.POSITIVE_INFINITY): Promise<void> => {
    if (deps.size === 0 || stopping.signal.aborted) return Promise.resolve();
    filling ??= fillPools(deps, stopping.signal, until).finally(() => {
      filling = undefined;
    });
    return filling;
  };
  const refill = async (): Promise<void> => {
    await clock.sleep(refillDelayMs);
    await filling;
    scheduled = false;
    await fill();
  };
  return {
    fill,
    claimed() {
      if (scheduled) return;
      scheduled = true;
      void refill();
    },
    async drain() {
      stopping.abort();
      await filling;
      for (const profile of deps.profiles) await drainProfile(deps, profile);
    },
  };
}

async function fillPools(deps: SandboxPoolDeps, stopping: AbortSignal, until: number): Promise<void> {
  const { clock, logger, load = () => 0, refillDelayMs = 150, startsAtOnce = 1 } = deps;
  const failed = new Set<string>();
  const unlessFailing = async (profile: SandboxProfile, work: () => Promise<void>): Promise<void> => {
    if (failed.has(profile.name)) return;
    try {
      await work();
    } catch (error) {
      if (failed.has(profile.name)) return;
      failed.add(profile.name);
      const reason = error instanceof Error ? error.message : 'unknown';
      logger.warn('pool.fill_failed', { profile: profile.name, reason });
    }
  };
  const missing = new Map<SandboxProfile, number>();
  for (const profile of deps.profiles) {
    await unlessFailing(profile, async () => {
      missing.set(profile, deps.size - (await forgetDead(deps, profile)));
    });
  }
  const wanted = inTurns(missing);
  const starter = async (): Promise<void> => {
    while (!stopping.aborted && clock.now() < until) {
      const profile = wanted.shift();
      if (profile === undefined) return;
      await unlessFailing(profile, () => addSandbox(deps, profile, stopping));
      if (load() > 0) await clock.sleep(refillDelayMs);
    }
  };
  // All of them to their end: one that is left behind would go on in a process that may be frozen.
  await Promise.all(Array.from({ length: startsAtOnce }, starter));
}

/** One of each, then a second of each: a profile that waits in vain for its sandboxes takes no other's time. */
function inTurns<T>(counts: ReadonlyMap<T, number>): T[] {
  const rounds = Math.max(0, ...counts.values());
  return Array.from({ length: rounds }, (_, round) =>
    [...counts].flatMap(([item, count]) => (round < count ? [item] : [])),
  ).flat();
}

/** @returns how many are left. */
async function forgetDead(deps: SandboxPoolDeps, profile: SandboxProfile): Promise<number> {
  const { sandboxes, provisioner, clock } = deps;
  const pooled = await sandboxes.listPooled(profile.name, await provisioner.imageIdentity(profile));
  const ids = pooled.flatMap(({ row }) => (row.task_id === null ? [] : [row.task_id]));
  const tasks = new Map(
    (ids.length === 0 ? [] : await provisioner.describe(ids)).map((task) => [task.task_id, task]),
  );
  const dead = pooled.filter(({ row }) => {
    const running = tasks.get(row.task_id ?? '')?.status === 'running';
    return !running || clock.now() - Date.parse(row.requested_at) > MAX_AGE_MS;
  });
  for (const sandbox of dead) await discard(deps, sandbox, 'the pool has no use for it any more');
  return pooled.length - dead.length;
}

/** Out of the pool first, so that no run can claim what is about to stop. */
async function discard(
  { table, sandboxes, provisioner }: SandboxPoolDeps,
  { row, version }: StoredSandbox,
  reason: string,
): Promise<void> {
  try {
    await table.transact([sandboxes.deletePooled(row, { version }), sandboxes.deleteKey(row.sandbox_id)]);
  } catch (error) {
    // A run has claimed it meanwhile, so it is that run's to stop.
    if (error instanceof ConditionFailed) return;
    throw error;
  }
  if (row.task_id !== null) await provisioner.stop(row.task_id, reason);
}

/** Only a task that runs and answers is put into the pool. */
async function addSandbox(
  deps: SandboxPoolDeps,
  profile: SandboxProfile,
  stopping: AbortSignal,
): Promise<void> {
  const { table, sandboxes, provisioner, clock, ids } = deps;
  const image_identity = await provisioner.imageIdentity(profile);
  const sandbox_id = ids.next();
  const { private_key, public_key } = newSandboxKeyPair();
  const keyExpiry = Math.floor(clock.now() / 1_000) + SANDBOX_KEY_SECONDS;
  await table.transact([sandboxes.writeKey(sandbox_id, private_key, keyExpiry)]);
  const requested_at = new Date(clock.now()).toISOString();
  let task: SandboxTask | undefined;
  try {
    task = await provisioner.launch({ sandbox_id, profile, public_key });
    const { host, port } = await answering(deps, sandbox_id, task.task_id, stopping);
    const row: SandboxRow = {
      sandbox_id,
      profile: profile.name,
      image_identity,
      task_id: task.task_id,
      host,
      port,
      requested_at,
      stopped: false,
    };
    await table.transact([sandboxes.writePooled(row, keyExpiry)]);
  } catch (error) {
    if (task !== undefined) await provisioner.stop(task.task_id, 'it did not get ready for the pool');
    await table.transact([sandboxes.deleteKey(sandbox_id)]);
    throw error;
  }
}

async function answering(
  { provisioner, client, clock, startDeadlineMs = 60_000, startPollMs = 25 }: SandboxPoolDeps,
  sandbox_id: string,
  taskId: string,
  stopping: AbortSignal,
): Promise<{ host: string; port: number }> {
  const began = clock.now();
  while (clock.now() - began < startDeadlineMs && !stopping.aborted) {
    const [task] = await provisioner.describe([taskId]);
    if (task?.status === 'stopped') break;
    const address = task?.status === 'running' ? task.address : undefined;
    const sandbox = address && { ...address, sandbox_id };
    if (sandbox !== undefined && (await client.healthy(sandbox, HEALTH_TIMEOUT_MS))) return sandbox;
    await clock.sleep(startPollMs);
  }
  throw new Error('the sandbox was not ready for the pool in time');
}

async function drainProfile(deps: SandboxPoolDeps, profile: SandboxProfile): Promise<void> {
  const { sandboxes, provisioner } = deps;
  const pooled = await sandboxes.listPooled(profile.name, await provisioner.imageIdentity(profile));
  await Promise.all(pooled.map((sandbox) => discard(deps, sandbox, 'the pool is drained')));
}
