/** sandboxd: the daemon of one sandbox. Fails closed: what is not as it must be ends the process before it answers. */
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { importPublicKey } from '../../shared/domain/daemon-signature.ts';
import { createCallAuthorizer } from './authorize-call.ts';
import type { CommandDriver } from './command/command-driver.ts';
import { commandEnv } from './command/command-env.ts';
import { commandLimits } from './command/command-limits.ts';
import { createContainerDriver } from './command/container-driver.ts';
import { createPreparedDriver } from './command/prepared-driver.ts';
import { resolveCommand } from './command/resolve-command.ts';
import { createUnsafeDriver } from './command/unsafe-driver.ts';
import { shareFolders } from './container-folders.ts';
import { containerSelfTest } from './container-self-test.ts';
import { CONTAINER_FORM, type DaemonConfig, readDaemonConfig, type SandboxForm } from './daemon-config.ts';
import { createEgressBroker } from './egress-broker.ts';
import { endWithServer } from './end-with-server.ts';
import { createRequestHandler } from './request-handler.ts';
import { createSandbox } from './sandbox.ts';
import { selfTest } from './self-test.ts';
import { serve } from './serve.ts';

/** Beside the daemon, wherever that lies. */
const SECCOMP_FILE = join(dirname(process.argv[1] ?? ''), 'command.bpf');

const log = (message: string): void => {
  process.stderr.write(`sandboxd: ${message}\n`);
};

async function main(): Promise<void> {
  process.umask(0);
  const config = readDaemonConfig(process.env, process.argv.slice(2));
  if (config.lifeline_fd !== undefined) endWithServer(config.lifeline_fd, config.form);
  const filters = await SELF_TESTS[config.form]();
  const root = config.root;
  const paths = {
    skills: `${root}/skills`,
    workspace: `${root}/workspace`,
    outputs: `${root}/outputs`,
    tmp: `${root}/tmp`,
    broker: `${root}/run/cognition`,
    egress_socket: `${root}/run/cognition/egress.sock`,
    node_bin: dirname(process.execPath),
  };
  for (const folder of Object.values(paths)) {
    if (folder !== paths.egress_socket) mkdirSync(folder, { recursive: true });
  }
  if (config.form === CONTAINER_FORM) shareFolders(paths);
  const egress = createEgressBroker(Date.now);
  const sandbox = createSandbox({
    folders: paths,
    driver: driverFor(config, paths.workspace, filters),
    egress,
    resolve: (request) => ({
      argv: resolveCommand({ skills: paths.skills, node: process.execPath }, request.command),
      env: commandEnv(paths, config.profile.env_names, request.env),
      stdin: request.stdin === undefined ? undefined : Buffer.from(request.stdin, 'base64'),
    }),
    onDead: (reason) => log(`this sandbox is dead: ${reason}`),
  });
  await egress.listen(createServer(egress.handle), paths.egress_socket);
  const authorizer = createCallAuthorizer({
    sandbox_id: config.sandbox_id,
    public_key: importPublicKey(config.public_key),
    now: Date.now,
  });
  const handler = createRequestHandler({ sandbox_id: config.sandbox_id, sandbox, authorizer, log });
  await serve(config.transport, handler);
}

/** Each returns how many seccomp filters surround the daemon, or throws. */
const SELF_TESTS: Readonly<Record<SandboxForm, () => number | Promise<number>>> = {
  bubblewrap: selfTest,
  container: containerSelfTest,
  unsafe: () => 0,
};

function driverFor(config: DaemonConfig, workspace: string, filters: number): CommandDriver {
  if (config.command_fds !== undefined) {
    return createPreparedDriver({ fds: config.command_fds, task_filters: filters });
  }
  const options = {
    architecture: process.arch === 'arm64' ? 'arm64' : 'x64',
    limits: commandLimits(config.profile),
    workspace,
  } as const;
  return config.form === CONTAINER_FORM
    ? createContainerDriver({ ...options, seccomp_file: SECCOMP_FILE, task_filters: filters })
    : createUnsafeDriver(options);
}

main().catch((error: unknown) => {
  log(error instanceof Error ? error.message : String(error));
  process.exit(1);
});
