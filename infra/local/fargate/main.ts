/**
 * Local Fargate as a process of its own, beside an AWS emulator: functions reach it with AWS_ENDPOINT_URL_ECS.
 * It prints one line of JSON when it is ready; the endpoint in it is the secret that lets a caller in.
 */
import { parseArgs } from 'node:util';
import { powertoolsLogger } from '../../../functions/runtime/powertools-logger.ts';
import { systemClock } from '../../../shared/adapters/system-clock.ts';
import { sandboxProfileSchema, sandboxProfilesSchema } from '../../../shared/contracts/sandbox-profile.ts';
import { InvalidSettings, parseSettings } from '../../../shared/contracts/settings.ts';
import { isCognitionError } from '../../../shared/domain/cognition-error.ts';
import { readSettingsFile } from '../read-settings-file.ts';
import { createLocalFargate } from './local-fargate.ts';
import { createTaskRuntime } from './task/task-runtime.ts';

const USAGE = `usage: node infra/local/fargate/main.ts [--port N] [--host ADDRESS] [--advertise HOST [--bind ADDRESS]]

  --port       of the ECS endpoint; default 8478, 0 takes a free one
  --host       where the ECS endpoint listens; default 127.0.0.1
  --advertise  each task gets a port of this host, as its callers know it, instead of an address of its own
  --bind       where tasks listen with --advertise; default the same host
  --attached   end when standard input does, so that it does not outlive what started it

COGNITION_SANDBOX_PROFILES, COGNITION_MAX_TASKS and COGNITION_UNSAFE_NO_ISOLATION are read as by the server.`;

function readArguments() {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '8478' },
      host: { type: 'string', default: '127.0.0.1' },
      advertise: { type: 'string' },
      bind: { type: 'string' },
      attached: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new InvalidSettings([`--port ${values.port} is no port; give a number from 0 to 65535`]);
  }
  const { advertise: host, bind } = values;
  const advertise = host === undefined ? {} : { advertise: bind === undefined ? { host } : { host, bind } };
  return { port, host: values.host, attached: values.attached, help: values.help, ...advertise };
}

async function main(): Promise<void> {
  const { help, attached, port, ...network } = readArguments();
  if (help) {
    process.stdout.write(`${USAGE}\n`);
    return;
  }
  const { settings } = parseSettings(process.env);
  // Standard output has one line; the log must not mix with it.
  const log = powertoolsLogger({ service: 'cognition-local-fargate', level: 'WARN' });
  const file = settings.sandbox_profiles_file;
  const profiles =
    file === undefined
      ? [sandboxProfileSchema.parse({ name: 'default' })]
      : readSettingsFile('COGNITION_SANDBOX_PROFILES', file, sandboxProfilesSchema);
  const { unsafe_no_isolation, max_tasks } = settings;
  const runtime = await createTaskRuntime({ unsafe_no_isolation, log });
  const fargate = createLocalFargate({ runtime, profiles, max_tasks, clock: systemClock, log, ...network });
  const { endpoint } = await fargate.start(port);
  const image_identities = Object.fromEntries(
    profiles.map((profile) => [profile.name, runtime.imageIdentity(profile)]),
  );
  const ready = { endpoint, isolation: runtime.isolation, warnings: runtime.warnings, image_identities };
  process.stdout.write(`${JSON.stringify(ready)}\n`);
  const end = (): void => {
    void fargate
      .close()
      .then(() => runtime.close())
      .then(() => process.exit(0));
  };
  process.once('SIGINT', end);
  process.once('SIGTERM', end);
  if (attached) process.stdin.once('end', end).resume();
}

try {
  await main();
} catch (error) {
  const misused =
    error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
  const known = misused || error instanceof InvalidSettings || isCognitionError(error);
  const text = error instanceof Error ? (known ? error.message : error.stack) : String(error);
  process.stderr.write(`local Fargate: ${text}\n${misused ? `${USAGE}\n` : ''}`);
  process.exit(1);
}
