/** A TaskRuntime without a sandbox: a daemon in this process that answers health and whatever a test gives it. */
import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { duplexPair } from 'node:stream';
import type { TaskProcess, TaskRuntime } from '../../infra/local/fargate/task/task-runtime.ts';
import { SANDBOX_ENV } from '../../shared/contracts/daemon.ts';

export interface FakeTask {
  readonly env: Readonly<Record<string, string>>;
  readonly profile: string;
  alive: boolean;
  exit(code: number): void;
  /** Closes the channel, the process stays. */
  hangUp(): void;
}

export interface FakeTaskRuntime extends TaskRuntime {
  readonly tasks: FakeTask[];
  readonly kills: number;
  alive(): number;
}

type Handler = (stream: ServerHttp2Stream, headers: Record<string, unknown>) => void;

export function createFakeTaskRuntime(
  options: {
    handler?: Handler;
    /** Awaited by every start. */
    gate?: () => Promise<void>;
    failStart?: () => Error | undefined;
    healthId?: (sandboxId: string) => string;
    silent?: () => boolean;
  } = {},
): FakeTaskRuntime {
  const tasks: FakeTask[] = [];
  let kills = 0;
  let pid = 1_000;
  return {
    isolation: 'none',
    warnings: ['a fake runtime isolates nothing'],
    tasks,
    get kills() {
      return kills;
    },
    alive: () => tasks.filter((task) => task.alive).length,
    imageIdentity: (profile) => `fake:${profile.name}`,
    close: async () => undefined,
    start: async (env, profile): Promise<TaskProcess> => {
      await options.gate?.();
      const failure = options.failStart?.();
      if (failure !== undefined) throw failure;
      const exited = Promise.withResolvers<Awaited<TaskProcess['exited']>>();
      const [ours, theirs] = duplexPair();
      const server = createServer({ settings: { initialWindowSize: 16 * 1024 * 1024 } });
      let session: ServerHttp2Session | undefined;
      server.on('session', (opened) => {
        session = opened;
        opened.on('error', () => undefined);
      });
      const sandboxId = env[SANDBOX_ENV.sandboxId] ?? '';
      server.on('stream', (stream, headers) => {
        stream.on('error', () => undefined);
        if (headers[':path'] !== '/v1/health') return options.handler?.(stream, headers);
        if (options.silent?.()) return undefined;
        stream.respond({ ':status': 200, 'content-type': 'application/json' });
        const sandbox_id = options.healthId?.(sandboxId) ?? sandboxId;
        return stream.end(JSON.stringify({ sandbox_id, state: 'ready' }));
      });
      theirs.on('error', () => undefined);
      ours.on('error', () => undefined);
      server.emit('connection', theirs);
      const end = (code: number | null, signal: string | null): void => {
        if (!task.alive) return;
        task.alive = false;
        session?.destroy();
        theirs.destroy();
        exited.resolve({ code, signal, stderr_tail: '' });
      };
      const task: FakeTask = {
        env,
        profile: profile.name,
        alive: true,
        exit: (code) => end(code, null),
        hangUp: () => session?.destroy(),
      };
      tasks.push(task);
      pid += 1;
      return {
        pid,
        channel: ours,
        exited: exited.promise,
        kill: async () => {
          kills += 1;
          end(null, 'SIGKILL');
        },
      };
    },
  };
}
