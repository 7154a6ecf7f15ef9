/**
 * `npm run emulator`: the whole product on an AWS emulator of this machine, deployed with the real CLI, until Ctrl-C.
 * With `--once` it runs an example instead of waiting, and says how long everything took.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { apiUrl } from './api-url.ts';
import { BUILDER_ENVIRONMENT } from './builder-key.ts';
import { cdkFor } from './deploy.ts';
import { callerAccount, emulatorApi } from './emulator-api.ts';
import { emulatorSettings } from './emulator-settings.ts';
import { startEmulator } from './start-emulator.ts';
import { startLocalFargate } from './start-local-fargate.ts';

const USAGE = `usage: node infra/local/emulator/main.ts [--once] [--advertise HOST [--bind ADDRESS]]

  --once       runs an example and ends
  --advertise  for an emulator that runs functions in containers: this machine, as they know it
  --bind       where local Fargate and its tasks listen then; default the same host

AWS_ENDPOINT_URL names an emulator that runs already; without it ministack is started.`;
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const CLI = join(ROOT, 'cli/bin/cognition.mjs');

const EXAMPLE: readonly (readonly string[])[] = [
  ['doctor'],
  ['skills', 'push', 'examples/skills/ticket-analysis'],
  ['skills', 'push', 'examples/skills/report-digest'],
  ['agents', 'put', 'examples/agents/support-analyst.json'],
  [
    ...['run', 'support-analyst', '--skill', 'ticket-analysis', '--script', 'scripts/analyze.py'],
    ...['--stdin', 'examples/data/tickets.json'],
  ],
];

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

function readArguments() {
  const { values } = parseArgs({
    options: {
      once: { type: 'boolean', default: false },
      advertise: { type: 'string' },
      bind: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const { advertise, bind = advertise } = values;
  const reachable =
    advertise === undefined || bind === undefined
      ? []
      : ['--advertise', advertise, '--bind', bind, '--host', bind];
  return { ...values, fargateArguments: reachable };
}

/** Runs the CLI as a builder would type it. */
async function cognition(args: readonly string[], env: Record<string, string>): Promise<void> {
  say(`$ cognition ${args.join(' ')}`);
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const code = await new Promise<number>((resolve) => child.once('close', (exit) => resolve(exit ?? 1)));
  if (code !== 0) throw new Error(`\`cognition ${args.join(' ')}\` exits with ${code}`);
}

async function deploy(folder: string, onStarted: (stop: () => Promise<void>) => void) {
  const { fargateArguments, advertise } = readArguments();
  const timed = async <T>(name: string, act: () => Promise<T>): Promise<T> => {
    const began = performance.now();
    const result = await act();
    say(`${name}: ${((performance.now() - began) / 1_000).toFixed(1)} s`);
    return result;
  };
  const emulator = await timed('emulator', () => startEmulator(process.env, folder));
  onStarted(emulator.stop);
  const started = await timed('local Fargate', () => startLocalFargate({ args: fargateArguments }));
  onStarted(started.stop);
  const fargate = { ...started, endpoint: asKnownTo(started.endpoint, advertise) };
  const account = await callerAccount(emulatorApi(emulator));
  const cdk = cdkFor(emulator, account, join(folder, 'cdk'));
  await timed('cdk bootstrap', () => cdk.bootstrap());
  const settings = emulatorSettings({ account, region: emulator.region, fargate, folder });
  const outputs = await timed('cdk deploy --all', () => cdk.deploy(settings));
  return {
    COGNITION_ENDPOINT: apiUrl(emulator.endpoint, outputs),
    COGNITION_SCOPE: 'tenant=acme',
    AWS_REGION: emulator.region,
    ...BUILDER_ENVIRONMENT,
  };
}

/** The endpoint under the name that functions know this machine by. */
function asKnownTo(endpoint: string, advertise: string | undefined): string {
  const url = new URL(endpoint);
  if (advertise !== undefined) url.hostname = advertise;
  return url.href;
}

async function main(): Promise<number> {
  const { once, help } = readArguments();
  if (help) {
    say(USAGE);
    return 0;
  }
  const began = performance.now();
  const folder = mkdtempSync(join(tmpdir(), 'cognition-emulator-'));
  const stops: (() => Promise<void>)[] = [];
  const interrupted = new Promise<number>((resolve) => {
    process.once('SIGINT', () => resolve(130));
    process.once('SIGTERM', () => resolve(143));
  });
  const work = async (): Promise<number> => {
    const env = await deploy(folder, (stop) => stops.push(stop));
    if (once) {
      for (const args of EXAMPLE) await cognition(args, env);
      say(`from start to a finished run: ${((performance.now() - began) / 1_000).toFixed(1)} s`);
      return 0;
    }
    say('deployed; in another terminal:');
    for (const [name, value] of Object.entries(env)) say(`  export ${name}=${value}`);
    for (const args of EXAMPLE) say(`  npx cognition ${args.join(' ')}`);
    return interrupted;
  };
  try {
    return await Promise.race([work(), interrupted]);
  } finally {
    for (const stop of stops.reverse()) await stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

try {
  process.exit(await main());
} catch (error) {
  process.stderr.write(`emulator: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
