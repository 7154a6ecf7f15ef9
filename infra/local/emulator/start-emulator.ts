/**
 * An AWS emulator: the one that AWS_ENDPOINT_URL names, which stays as it is, or a ministack of our own on a free port
 * with a folder of its own, which is gone afterwards.
 */
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startAttached } from './attached-process.ts';
import { openMinistackEnvironment } from './ministack-environment.ts';

export interface EmulatorConnection {
  /** Such as `http://127.0.0.1:4566`. */
  readonly endpoint: string;
  readonly region: string;
  /** For its AWS APIs; an emulator looks at the form of it only. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

export interface Emulator extends EmulatorConnection {
  stop(): Promise<void>;
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const LAUNCHER = fileURLToPath(new URL('launch_ministack.py', import.meta.url));
const START_MS = 60_000;
/** Waits between attempts are as long as AWS needs; here they only make a test long. */
const WAIT_SCALE = '0.1';
/** Processes that a burst of calls has left, beyond the first of each function, go after this time. */
const WARM_SECONDS = '20';

/** @param folder for what the emulator writes. */
export async function startEmulator(
  env: Readonly<Record<string, string | undefined>>,
  folder: string,
): Promise<Emulator> {
  const region = env.AWS_REGION || env.AWS_DEFAULT_REGION || 'us-east-1';
  const credentials = {
    accessKeyId: env.AWS_ACCESS_KEY_ID || 'test',
    secretAccessKey: env.AWS_SECRET_ACCESS_KEY || 'test',
  };
  const given = env.AWS_ENDPOINT_URL;
  if (given !== undefined && given !== '') {
    const endpoint = given.replace(/\/+$/, '');
    if (!(await answers(endpoint))) throw new Error(`nothing answers at AWS_ENDPOINT_URL ${endpoint}`);
    return { endpoint, region, credentials, stop: async () => {} };
  }
  const python = openMinistackEnvironment();
  const port = await freePort();
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary, { recursive: true });
  const emulator = startAttached([python, LAUNCHER], {
    cwd: folder,
    // Functions inherit it, so it has no more than Lambda gives.
    env: {
      PATH: [join(ROOT, 'node_modules/.bin'), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
      LANG: 'C.UTF-8',
      TMPDIR: temporary,
      STATE_DIR: join(folder, 'state'),
      S3_DATA_DIR: join(folder, 's3'),
      GATEWAY_PORT: String(port),
      BIND_HOST: '127.0.0.1',
      MINISTACK_REGION: region,
      SFN_WAIT_SCALE: WAIT_SCALE,
      LAMBDA_WARM_TTL_SECONDS: WARM_SECONDS,
      LOG_LEVEL: 'WARNING',
    },
  });
  const endpoint = `http://127.0.0.1:${port}`;
  for (const deadline = Date.now() + START_MS; !(await answers(endpoint)); await sleep(50)) {
    if (emulator.running && Date.now() < deadline) continue;
    await emulator.stop();
    throw new Error(`the emulator did not start:\n${emulator.tail()}`);
  }
  return { endpoint, region, credentials, stop: () => emulator.stop() };
}

/** A query that every emulator of AWS must answer, in whatever way. */
async function answers(endpoint: string): Promise<boolean> {
  try {
    const response = await fetch(endpoint, { signal: AbortSignal.timeout(5_000) });
    await response.arrayBuffer();
    return true;
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== 'object' || address === null) throw new Error('no port is free');
  return address.port;
}
