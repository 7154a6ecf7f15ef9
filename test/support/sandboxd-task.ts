/** A real sandbox of either form, with the product's own client and the few calls that make a run. */
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { createTaskRuntime, type TaskRuntime } from '../../infra/local/fargate/task/task-runtime.ts';
import { createHttpSandboxClient } from '../../shared/adapters/sandbox/http-sandbox-client.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { createUlidIds } from '../../shared/adapters/ulid-ids.ts';
import { type ExecRequest, type ExecStatus, SANDBOX_ENV } from '../../shared/contracts/daemon.ts';
import { type SandboxProfile, sandboxProfileSchema } from '../../shared/contracts/sandbox-profile.ts';
import { encodePackage, packageDigest } from '../../shared/domain/canonical-package.ts';
import { newSandboxKeyPair } from '../../shared/domain/daemon-signature.ts';
import { sha256Hex } from '../../shared/domain/sha256.ts';
import type { SandboxHandle } from '../../shared/ports/sandbox-client.ts';

export const silentLog = { info: () => undefined, warn: () => undefined, error: () => undefined };
export const ids = createUlidIds();
export const client = createHttpSandboxClient({ clock: systemClock, ids });
export const MANIFEST_DIGEST = `sha256:${'a'.repeat(64)}`;

export const openRuntime = (options: { unsafe?: boolean } = {}): Promise<TaskRuntime> =>
  createTaskRuntime({ unsafe_no_isolation: options.unsafe ?? false, log: silentLog });

export const profileOf = (overrides: Partial<SandboxProfile> = {}): SandboxProfile =>
  sandboxProfileSchema.parse({ name: 'test', ...overrides });

export interface LaunchedSandbox {
  readonly host: string;
  readonly port: number;
  kill(): Promise<void>;
  /** As its host knows it: a container, or a process of this machine. */
  readonly id: string;
  /** What the kernel says about the daemon. */
  status(): Promise<string>;
}

/** Starts sandboxes that are reached by an address of their own. */
export interface SandboxHost {
  launch(env: Readonly<Record<string, string>>, profile: SandboxProfile): Promise<LaunchedSandbox>;
  close(): Promise<void>;
}

export type SandboxSource = TaskRuntime | SandboxHost;

/** A task of this machine. */
export interface LocalSandbox extends LaunchedSandbox {
  readonly pid: number;
}

export interface TestTask<T extends LaunchedSandbox = LaunchedSandbox> {
  readonly process: T;
  readonly sandbox: SandboxHandle;
}

export function startTask(source: TaskRuntime, profile?: SandboxProfile): Promise<TestTask<LocalSandbox>>;
export function startTask(source: SandboxSource, profile?: SandboxProfile): Promise<TestTask>;
export async function startTask(source: SandboxSource, profile = profileOf()): Promise<TestTask> {
  const keys = newSandboxKeyPair();
  const sandboxId = ids.next();
  const env = {
    [SANDBOX_ENV.sandboxId]: sandboxId,
    [SANDBOX_ENV.publicKey]: keys.public_key,
    [SANDBOX_ENV.profile]: JSON.stringify(profile),
  };
  const process = await ('launch' in source
    ? source.launch(env, profile)
    : launchLocally(source, env, profile));
  const sandbox = {
    sandbox_id: sandboxId,
    run_id: ids.next(),
    host: process.host,
    port: process.port,
    private_key: keys.private_key,
  };
  return { process, sandbox };
}

async function launchLocally(
  runtime: TaskRuntime,
  env: Readonly<Record<string, string>>,
  profile: SandboxProfile,
): Promise<LocalSandbox> {
  const { listener, port } = await listen();
  const { pid, kill } = await runtime.start(env, profile, listener);
  // The one child of its bubblewrap.
  const status = async (): Promise<string> => {
    const [child] = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ');
    return await readFile(`/proc/${child}/status`, 'utf8');
  };
  return { id: String(pid), pid, host: '127.0.0.1', port, kill, status };
}

function listen(): Promise<{ listener: Server; port: number }> {
  return new Promise((resolve, reject) => {
    const listener = createServer();
    listener.once('error', reject);
    listener.listen(0, '127.0.0.1', () => {
      const address = listener.address();
      resolve({ listener, port: typeof address === 'object' && address !== null ? address.port : 0 });
    });
  });
}

export interface Materials {
  readonly skills?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly inputs?: Readonly<Record<string, string>>;
}

/** Binds, fills and seals. */
export async function sealTask({ sandbox }: TestTask, materials: Materials = {}): Promise<void> {
  await client.bind(sandbox, { run_id: sandbox.run_id, manifest_digest: MANIFEST_DIGEST });
  const packages: { name: string; digest: string }[] = [];
  for (const [name, files] of Object.entries(materials.skills ?? {})) {
    const bytes = encodePackage(new Map(Object.entries(files)));
    packages.push({ name, digest: packageDigest(bytes) });
    await client.putPackage(sandbox, name, packageDigest(bytes), bytes);
  }
  const inputs: { path: string; sha256: string }[] = [];
  for (const [path, text] of Object.entries(materials.inputs ?? {})) {
    inputs.push({ path, sha256: sha256Hex(text) });
    await client.putInput(sandbox, path, sha256Hex(text), Buffer.from(text));
  }
  await client.seal(sandbox, { packages, inputs });
}

export interface Ran {
  readonly status: ExecStatus;
  readonly stdout: string;
  readonly stderr: string;
}

export type Exec = Partial<Omit<ExecRequest, 'stdin'>> & { readonly stdin?: string | Uint8Array };

export async function startExec({ sandbox }: TestTask, exec: Exec): Promise<string> {
  const execId = ids.next();
  const { stdin, ...rest } = exec;
  const request = {
    command: { argv: ['true'] },
    env: {},
    timeout_ms: 20_000,
    stream_bytes: 256 * 1024,
    ...rest,
  };
  const encoded = stdin === undefined ? {} : { stdin: Buffer.from(stdin).toString('base64') };
  await client.exec(sandbox, execId, { ...request, ...encoded });
  return execId;
}

/** Follows both streams to the end of the command. */
export async function followExec({ sandbox }: TestTask, execId: string): Promise<Ran> {
  const parts = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const offset = { stdout: 0, stderr: 0 };
  for (;;) {
    const query = { wait_ms: 5_000, stdout_offset: offset.stdout, stderr_offset: offset.stderr };
    const status = await client.execStatus(sandbox, execId, query);
    for (const stream of ['stdout', 'stderr'] as const) {
      parts[stream].push(Buffer.from(status[stream].data, 'base64'));
      offset[stream] = status[stream].next_offset;
    }
    const all = status.stdout.length === offset.stdout && status.stderr.length === offset.stderr;
    if (status.state === 'exited' && all) {
      const text = (stream: 'stdout' | 'stderr') => Buffer.concat(parts[stream]).toString('utf8');
      return { status, stdout: text('stdout'), stderr: text('stderr') };
    }
  }
}

export async function run(task: TestTask, exec: Exec): Promise<Ran> {
  return await followExec(task, await startExec(task, exec));
}

/** One sealed task, one shell script, its end. */
export async function runShell(
  source: SandboxSource,
  script: string,
  options: { profile?: SandboxProfile; materials?: Materials; exec?: Exec } = {},
): Promise<Ran & { task: TestTask }> {
  const task = await startTask(source, options.profile);
  await sealTask(task, options.materials);
  const ran = await run(task, { command: { argv: ['sh', '-c', script] }, ...options.exec });
  return { ...ran, task };
}
