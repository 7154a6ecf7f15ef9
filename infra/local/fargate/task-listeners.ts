/**
 * Where tasks listen. A task inherits a listening Unix socket, which leads nowhere: a TCP socket of this machine,
 * in the hands of a daemon that has been taken over, could be shut down and connected to anything. Callers meet a TCP
 * listener here, which passes bytes on and looks at none.
 *
 * On Linux each task gets an address of its own out of 127.88.0.0/16 with the production port; `advertise` gives
 * each another port on one host instead. Addresses go round in a ring that begins anywhere, so that a stale address
 * meets nobody for 65,000 tasks, or for a restart.
 */
import { randomInt } from 'node:crypto';
import { existsSync, lstatSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { connect, createServer, type ListenOptions, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { SANDBOX_PORT } from '../../../shared/contracts/daemon.ts';
import { CognitionError } from '../../../shared/domain/cognition-error.ts';

const ADDRESSES = 65_534;
const ATTEMPTS = 32;
const BACKLOG = 64;
const FOLDER_BYTES = 60;

export interface Advertise {
  /** What callers connect to, e.g. `127.0.0.1` or `host.docker.internal`. */
  readonly host: string;
  /** What the listeners bind to; default: `host`. */
  readonly bind?: string;
}

export interface TaskListener {
  /** The task's own end; closed by the runtime that hands its socket to a task. */
  readonly server: Server;
  readonly host: string;
  readonly port: number;
  /** Takes no more callers and lets go of those there are. */
  close(): void;
}

export interface TaskListeners {
  open(): Promise<TaskListener>;
  close(): void;
}

interface Front {
  readonly server: Server;
  readonly host: string;
  readonly port: number;
}

export function createTaskListeners(advertise: Advertise | undefined): TaskListeners {
  const folder = socketFolder();
  const openFront = advertise === undefined ? ownAddresses() : portsOf(advertise);
  let count = 0;
  return {
    open: async () => {
      count += 1;
      const path = join(folder, String(count));
      const callers = new Set<Socket>();
      const front = await openFront((caller) => passOn(caller, path, callers));
      const server = await listenOn(path).catch((error: unknown) => {
        front.server.close();
        throw error;
      });
      const close = (): void => {
        front.server.close();
        server.close();
        for (const caller of callers) caller.destroy();
        rmSync(path, { force: true });
      };
      return { server, host: front.host, port: front.port, close };
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/**
 * A folder of this process; those of servers that were killed go. Root could remove those of others too, but their
 * owners could turn a folder into a link to anything in the middle of that.
 */
function socketFolder(): string {
  const parent = shortFolder();
  for (const name of readdirSync(parent)) {
    const pid = /^cognition-tasks-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || existsSync(`/proc/${pid}`) || !isOurs(join(parent, name))) continue;
    rmSync(join(parent, name), { recursive: true, force: true });
  }
  return mkdtempSync(join(parent, `cognition-tasks-${process.pid}-`));
}

function isOurs(folder: string): boolean {
  const status = lstatSync(folder, { throwIfNoEntry: false });
  return status?.isDirectory() === true && status.uid === process.getuid?.();
}

/** The path of a Unix socket has at most 107 bytes. */
function shortFolder(): string {
  const usual = tmpdir();
  return Buffer.byteLength(usual) <= FOLDER_BYTES ? usual : '/tmp';
}

/** Both directions, with their ends; the daemon's backlog holds calls that come before it is ready. */
function passOn(caller: Socket, path: string, callers: Set<Socket>): void {
  const daemon = connect({ path, allowHalfOpen: true });
  callers.add(caller);
  caller.once('close', () => {
    callers.delete(caller);
    daemon.destroy();
  });
  daemon.once('close', () => caller.destroy());
  pipeline(caller, daemon, () => undefined);
  pipeline(daemon, caller, () => undefined);
}

/** Node removes the name it has listened on when it closes its own end, so the socket gets another name. */
async function listenOn(path: string): Promise<Server> {
  const server = createServer();
  await listen(server, { path: `${path}.new` });
  renameSync(`${path}.new`, path);
  return server;
}

type OpenFront = (onCaller: (caller: Socket) => void) => Promise<Front>;

function portsOf({ host, bind = host }: Advertise): OpenFront {
  return async (onCaller) => ({ ...(await listenFront(bind, 0, onCaller)), host });
}

function ownAddresses(): OpenFront {
  let next = randomInt(ADDRESSES);
  return async (onCaller) => {
    for (let attempt = 1; ; attempt += 1) {
      next = (next + 1) % ADDRESSES;
      const host = `127.88.${(next + 1) >> 8}.${(next + 1) & 255}`;
      try {
        return { ...(await listenFront(host, SANDBOX_PORT, onCaller)), host };
      } catch (error) {
        if (attempt === ATTEMPTS || !isInUse(error)) throw unusable(host, error);
      }
    }
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

async function listenFront(
  host: string,
  port: number,
  onCaller: (caller: Socket) => void,
): Promise<{ server: Server; port: number }> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, onCaller);
  await listen(server, { host, port });
  const address = server.address();
  return { server, port: typeof address === 'object' && address !== null ? address.port : port };
}

function listen(server: Server, where: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ ...where, backlog: BACKLOG, exclusive: true }, resolve);
  });
}
