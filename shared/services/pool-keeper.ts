import { LIMITS } from '../contracts/limits.ts';
import type { Clock } from '../ports/clock.ts';
import type { MaintenanceLeases } from './maintenance-leases.ts';
import type { SandboxPool } from './sandbox-pool.ts';

/** Fills the pools from a process that lives no longer than the work, as a function on a schedule does. */
export interface PoolKeeper {
  /** @returns false when another process is at it. */
  keep(): Promise<boolean>;
}

export interface PoolKeeperDeps {
  readonly pool: Pick<SandboxPool, 'fill'>;
  readonly leases: MaintenanceLeases;
  readonly clock: Clock;
}

/** What is started last has the whole time of a launch, and the rest of the turn for calls that are slow. */
const STARTS_SECONDS = 90;
const TURN_SECONDS = STARTS_SECONDS + LIMITS.launchTimeoutSeconds + 60;

export function createPoolKeeper({ pool, leases, clock }: PoolKeeperDeps): PoolKeeper {
  return {
    keep: () => leases.during('pool', TURN_SECONDS, () => pool.fill(clock.now() + STARTS_SECONDS * 1_000)),
  };
}
