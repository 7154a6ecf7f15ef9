/**
 * Where tasks listen. On Linux each gets an address of its own out of 127.88.0.0/16 with the production port;
 * elsewhere `advertise` gives each another port on one host. Addresses are handed out in a ring that starts
 * anywhere, so that a stale address meets nobody for 65,000 tasks or a restart.
 */
import { randomInt } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import { SANDBOX_PORT } from '../../../shared/contracts/daemon.ts';

/** Connections to one task at a time: the callers of a run need a handful. */
const CONNECTIONS_PER_TASK = 64;
const ADDRESSES = 65_534;
const ATTEMPTS = 32;

export interface Advertise {
  /** What callers connect to, e.g. `127.0.0.1` or `host.docker.internal`. */
  readonly host: string;
  /** What the listeners bind to; default: `host`. */
  readonly bind?: string;
}

export interface TaskListener {
  readonly host: string;
  readonly port: number;
  /** Also ends every connection. */
  close(): void;
}

export interface TaskListeners {
  open(onConnection: (socket: Socket) => void): Promise<TaskListener>;
}

export function createTaskListeners(advertise: Advertise | undefined): TaskListeners {
  if (advertise !== undefined) {
    return {
      open: async (onConnection) => {
        const { server, sockets } = connectionServer(onConnection);
        const port = await listen(server, advertise.bind ?? advertise.host, 0);
        return listenerOf(server, sockets, advertise.host, port);
      },
    };
  }
  let next = randomInt(ADDRESSES);
  return {
    open: async (onConnection) => {
      for (let attempt = 1; ; attempt += 1) {
        next = (next + 1) % ADDRESSES;
        const host = `127.88.${(next + 1) >> 8}.${(next + 1) & 255}`;
        const { server, sockets } = connectionServer(onConnection);
        try {
          const port = await listen(server, host, SANDBOX_PORT);
          return listenerOf(server, sockets, host, port);
        } catch (error) {
          if (attempt === ATTEMPTS || !isInUse(error)) throw unusable(host, error);
        }
      }
    },
  };
}

const isInUse = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';

function unusable(host: string, cause: unknown): Error {
  const fix = isInUse(cause)
    ? `something else on this machine listens on port ${SANDBOX_PORT} of every address; stop it`
    : 'this system has no such loopback addresses; set `advertise` to give tasks ports of one host instead';
  return new Error(`no task can listen on ${host}:${SANDBOX_PORT}: ${fix}`, { cause });
}

function connectionServer(onConnection: (socket: Socket) => void): { server: Server; sockets: Set<Socket> } {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    onConnection(socket);
  });
  server.maxConnections = CONNECTIONS_PER_TASK;
  return { server, sockets };
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => {
      server.off('error', reject);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

function listenerOf(server: Server, sockets: Set<Socket>, host: string, port: number): TaskListener {
  return {
    host,
    port,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
