/**
 * Where tasks listen: a socket is bound here and inherited by the task, so that its daemon serves it as on
 * Fargate, with nobody in between. On Linux each task gets an address of its own out of 127.88.0.0/16 with the
 * production port; `advertise` gives each another port on one host instead. Addresses go round in a ring that
 * begins anywhere, so that a stale address meets nobody for 65,000 tasks, or for a restart.
 */
import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import { SANDBOX_PORT } from '../../../shared/contracts/daemon.ts';
import { CognitionError } from '../../../shared/domain/cognition-error.ts';

const ADDRESSES = 65_534;
const ATTEMPTS = 32;
const BACKLOG = 64;

export interface Advertise {
  /** What callers connect to, e.g. `127.0.0.1` or `host.docker.internal`. */
  readonly host: string;
  /** What the listeners bind to; default: `host`. */
  readonly bind?: string;
}

export interface TaskListener {
  /** Listening; to be closed by whoever asked for it, or by the runtime that hands its socket to a task. */
  readonly server: Server;
  readonly host: string;
  readonly port: number;
}

export interface TaskListeners {
  open(): Promise<TaskListener>;
}

export function createTaskListeners(advertise: Advertise | undefined): TaskListeners {
  if (advertise !== undefined) {
    const bind = advertise.bind ?? advertise.host;
    return { open: async () => ({ ...(await listen(bind, 0)), host: advertise.host }) };
  }
  let next = randomInt(ADDRESSES);
  return {
    open: async () => {
      for (let attempt = 1; ; attempt += 1) {
        next = (next + 1) % ADDRESSES;
        const host = `127.88.${(next + 1) >> 8}.${(next + 1) & 255}`;
        try {
          return { ...(await listen(host, SANDBOX_PORT)), host };
        } catch (error) {
          if (attempt === ATTEMPTS || !isInUse(error)) throw unusable(host, error);
        }
      }
    },
  };
}

const isInUse = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';

function unusable(host: string, cause: unknown): CognitionError {
  const fix = isInUse(cause)
    ? `something else on this machine listens on port ${SANDBOX_PORT} of every address; stop it`
    : 'this system has no such loopback addresses; set `advertise` to give tasks ports of one host instead';
  const message = `no task can listen on ${host}:${SANDBOX_PORT}: ${fix}`;
  return new CognitionError('sandbox_unavailable', message, { cause });
}

function listen(host: string, port: number): Promise<{ server: Server; port: number }> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, backlog: BACKLOG, exclusive: true }, () => {
      const address = server.address();
      resolve({ server, port: typeof address === 'object' && address !== null ? address.port : port });
    });
  });
}
