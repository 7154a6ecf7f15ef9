/** The HTTP/2 channel to one task's daemon, over the socketpair that the runtime hands out. */
import { type ClientHttp2Session, connect } from 'node:http2';
import type { Duplex } from 'node:stream';
import { healthSchema } from '../../../shared/contracts/daemon.ts';

/** Large enough that a 16 MiB package never waits for a window update. */
const WINDOW_BYTES = 16 * 1024 * 1024;
const HEALTH_BYTES = 4_096;

export function openChannel(channel: Duplex): ClientHttp2Session {
  const session = connect('http://sandbox', {
    createConnection: () => channel,
    settings: { enablePush: false, initialWindowSize: WINDOW_BYTES, maxFrameSize: 256 * 1024 },
  });
  session.once('connect', () => {
    if (!session.destroyed) session.setLocalWindowSize(WINDOW_BYTES);
  });
  // A failing session also closes; the runner watches that.
  session.on('error', () => undefined);
  return session;
}

/**
 * Resolves when the daemon answers its health call. There is nothing to poll: the request waits in the
 * socketpair until the daemon reads it.
 * @throws Error saying what was wrong with the answer.
 */
export function awaitHealth(session: ClientHttp2Session, sandboxId: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':method': 'GET', ':path': '/v1/health' }, { endStream: true });
    let status: number | undefined;
    let text = '';
    stream.setEncoding('utf8');
    stream.once('response', (headers) => {
      status = headers[':status'];
    });
    stream.on('data', (chunk: string) => {
      text += chunk;
      if (text.length > HEALTH_BYTES)
        stream.destroy(new Error('the health answer of the daemon is too long'));
    });
    stream.once('error', reject);
    stream.once('close', () => reject(new Error('the daemon closed the channel before it was healthy')));
    stream.once('end', () => {
      const refusal = unhealthy(status, text, sandboxId);
      if (refusal === undefined) resolve();
      else reject(new Error(refusal));
    });
  });
}

function unhealthy(status: number | undefined, text: string, sandboxId: string): string | undefined {
  if (status !== 200) return `the health call of the daemon was answered with status ${status}`;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return 'the health answer of the daemon is not JSON';
  }
  const health = healthSchema.safeParse(json);
  if (!health.success) return 'the health answer of the daemon is not of the protocol';
  return health.data.sandbox_id === sandboxId ? undefined : 'the daemon has the id of another sandbox';
}
