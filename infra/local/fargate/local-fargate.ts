/**
 * Local Fargate: the ECS wire protocol over real Linux sandboxes. What ECS does for the product on AWS this
 * does on one machine and beside an emulator, so that one adapter serves all three. It keeps nothing on disk:
 * after a restart every task is MISSING, and the runtime has seen to it that its processes are dead.
 */
import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import { availableParallelism } from 'node:os';
import type { SandboxProfile } from '../../../shared/contracts/sandbox-profile.ts';
import { CognitionError } from '../../../shared/domain/cognition-error.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import type { Logger } from '../../../shared/ports/logger.ts';
import { createEcsOperations } from './ecs-operations.ts';
import { createEcsServer } from './ecs-server.ts';
import type { TaskRuntime } from './task/task-runtime.ts';
import { type Advertise, createTaskListeners } from './task-listeners.ts';
import { createTaskRunner } from './task-runner.ts';
import { createTaskTable } from './task-table.ts';

export interface LocalFargateOptions {
  readonly runtime: TaskRuntime;
  /** Each is a task definition family `cognition-sandbox-<name>`. */
  readonly profiles: readonly SandboxProfile[];
  readonly clock: Clock;
  readonly log: Logger;
  /** Live tasks; the rest wait as PROVISIONING. */
  readonly max_tasks: number;
  /** Tasks that start at the same time; default: two for each core. */
  readonly max_starting?: number;
  /** Tasks that may wait; beyond it RunTask answers with a capacity failure. Default 10,000. */
  readonly max_queued?: number;
  /** From the start of a task to its first answer. Default 60,000. */
  readonly start_timeout_ms?: number;
  /** How long, and how many, stopped tasks stay describable. Defaults 600,000 and 1,000. */
  readonly keep_stopped_ms?: number;
  readonly keep_stopped_tasks?: number;
  /** DescribeTasks of a single PENDING task waits this long for its next status. Default 100. */
  readonly describe_hold_ms?: number;
  /** Where 127.88.0.0/16 cannot be used, or callers are elsewhere: another port of this host for each task. */
  readonly advertise?: Advertise;
  /** Where the ECS endpoint listens. Default 127.0.0.1. */
  readonly host?: string;
}

export interface LocalFargate {
  /**
   * @returns an endpoint that is a secret: there is no other key to it.
   * @throws CognitionError `sandbox_unavailable` when the port is taken, or tasks could not listen here.
   */
  start(port?: number): Promise<{ endpoint: string }>;
  /** Kills every task; the runtime stays with whoever made it. */
  close(): Promise<void>;
}

export function createLocalFargate(options: LocalFargateOptions): LocalFargate {
  const { clock, log, runtime, profiles } = options;
  const listeners = createTaskListeners(options.advertise);
  const table = createTaskTable({
    clock,
    keep_ms: options.keep_stopped_ms ?? 600_000,
    keep_tasks: options.keep_stopped_tasks ?? 1_000,
  });
  const runner = createTaskRunner({
    runtime,
    listeners,
    max_tasks: options.max_tasks,
    max_starting: options.max_starting ?? 2 * availableParallelism(),
    start_timeout_ms: options.start_timeout_ms ?? 60_000,
    clock,
    log,
    onStopped: (record) => table.retire(record),
  });
  const operations = createEcsOperations({
    table,
    runner,
    profiles,
    max_queued: options.max_queued ?? 10_000,
    describe_hold_ms: options.describe_hold_ms ?? 100,
    clock,
  });
  const identities = Object.fromEntries(
    profiles.map((profile) => [profile.name, runtime.imageIdentity(profile)]),
  );
  const status = () => ({
    isolation: runtime.isolation,
    warnings: runtime.warnings,
    image_identities: identities,
    tasks: runner.counts(),
  });
  const path = `/${randomBytes(24).toString('base64url')}`;
  const server = createEcsServer({ operations, status, path, log });
  const host = options.host ?? '127.0.0.1';
  return {
    start: async (port = 0) => {
      // Found out now rather than by the first run.
      const probe = await listeners.open();
      probe.close();
      return { endpoint: `http://${host}:${await listen(server, host, port)}${path}` };
    },
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await runner.close();
      listeners.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** @returns the port, which is another one where 0 was asked for. */
async function listen(server: Server, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      const message = `local Fargate cannot listen on ${host}:${port}; stop what does, or choose another port`;
      reject(new CognitionError('sandbox_unavailable', message, { cause }));
    });
    server.listen({ host, port, exclusive: true }, resolve);
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}
