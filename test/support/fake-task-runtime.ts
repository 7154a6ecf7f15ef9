/** A TaskRuntime without a sandbox: a daemon in this process that answers its health call and nothing else. */
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import type { TaskProcess, TaskRuntime } from '../../infra/local/fargate/task/task-runtime.ts';
import { SANDBOX_ENV } from '../../shared/contracts/daemon.ts';

interface FakeTask {
  readonly env: Readonly<Record<string, string>>;
  readonly profile: string;
  alive: boolean;
  exit(code: number): void;
}

export interface FakeTaskRuntime extends TaskRuntime {
  readonly tasks: FakeTask[];
  kills(): number;
  alive(): number;
}

export interface FakeTaskRuntimeOptions {
  /** Awaited by every start. */
  readonly gate?: () => Promise<void>;
  readonly failStart?: () => Error | undefined;
  readonly failKills?: number;
  readonly onHealth?: (task: FakeTask) => 'answer' | 'silence' | 'hang up';
  readonly healthId?: (sandboxId: string) => string;
}

export function createFakeTaskRuntime(options: FakeTaskRuntimeOptions = {}): FakeTaskRuntime {
  const tasks: FakeTask[] = [];
  let kills = 0;
  let failures = options.failKills ?? 0;
  return {
    isolation: 'none',
    warnings: ['a fake runtime isolates nothing'],
    tasks,
    kills: () => kills,
    alive: () => tasks.filter((task) => task.alive).length,
    imageIdentity: (profile) => `fake:${profile.name}`,
    close: async () => undefined,
    start: async (env, profile, listener): Promise<TaskProcess> => {
      await options.gate?.();
      const failure = options.failStart?.();
      if (failure !== undefined) throw failure;
      const exited = Promise.withResolvers<Awaited<TaskProcess['exited']>>();
      const sockets = new Set<Socket>();
      const http = createServer((_request, response) => {
        const sandboxId = env[SANDBOX_ENV.sandboxId] ?? '';
        const what = options.onHealth?.(task) ?? 'answer';
        const sandbox_id = options.healthId?.(sandboxId) ?? sandboxId;
        if (what === 'answer') response.end(JSON.stringify({ sandbox_id, state: 'ready' }));
        if (what === 'hang up') response.destroy();
      });
      listener?.on('connection', (socket) => {
        sockets.add(socket);
        http.emit('connection', socket);
      });
      const end = (code: number | null, signal: string | null): void => {
        if (!task.alive) return;
        task.alive = false;
        listener?.close();
        for (const socket of sockets) socket.destroy();
        exited.resolve({ code, signal, stderr_tail: '' });
      };
      const task: FakeTask = { env, profile: profile.name, alive: true, exit: (code) => end(code, null) };
      tasks.push(task);
      return {
        pid: 1_000 + tasks.length,
        exited: exited.promise,
        kill: async () => {
          if (failures > 0) {
            failures -= 1;
            throw new Error('not now');
          }
          kills += 1;
          end(null, 'SIGKILL');
        },
      };
    },
  };
}
