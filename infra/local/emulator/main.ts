/**
 * `npm run emulator`: the whole product on an AWS emulator of this machine, deployed with the real CLI, until Ctrl-C.
 * With `--once` it runs an example instead of waiting, and says how long everything took.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { apiUrl } from './api-url.ts';
import { BUILDER_ENVIRONMENT } from './builder-key.ts';
import { cdkFor } from './deploy.ts';
import { callerAccount, emulatorApi } from './emulator-api.ts';
import { type EmulatorSession, emulatorSession } from './emulator-session.ts';
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
async function cognition(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  say(`$ cognition ${args.join(' ')}`);
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
    signal,
  });
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exit) => resolve(exit ?? 1));
  });
  if (code !== 0) throw new Error(`\`cognition ${args.join(' ')}\` exits with ${code}`);
}

async function timed<T>(name: string, act: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const result = await act();
  say(`${name}: ${((performance.now() - began) / 1_000).toFixed(1)} s`);
  return result;
}

/** @returns what a builder's shell has to know. */
async function deploy({ folder, signal, onStarted }: EmulatorSession): Promise<Record<string, string>> {
  const { fargateArguments, advertise } = readArguments();
  const emulator = await timed('emulator', () => startEmulator(process.env, folder));
  onStarted(emulator.stop);
  const started = await timed('local Fargate', () => startLocalFargate({ args: fargateArguments }));
  onStarted(started.stop);
  const fargate = { ...started, endpoint: asKnownTo(started.endpoint, advertise) };
  const account = await callerAccount(emulatorApi(emulator));
  const cdk = cdkFor(emulator, account, join(folder, 'cdk'), signal);
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

async function work(session: EmulatorSession): Promise<number> {
  const began = performance.now();
  const env = await deploy(session);
  if (readArguments().once) {
    for (const args of EXAMPLE) await cognition(args, env, session.signal);
    say(`from start to a finished run: ${((performance.now() - began) / 1_000).toFixed(1)} s`);
    return 0;
  }
  say('deployed; in another terminal:');
  for (const [name, value] of Object.entries(env)) say(`  export ${name}=${value}`);
  for (const args of EXAMPLE) say(`  npx cognition ${args.join(' ')}`);
  return session.interrupted;
}

try {
  if (readArguments().help) say(USAGE);
  else process.exitCode = await emulatorSession(work);
} catch (error) {
  process.stderr.write(`emulator: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
