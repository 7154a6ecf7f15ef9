/**
 * Sandboxes in memory: a provider of tasks and the daemon in each, which keep the protocol as the real ones do, and
 * count what must happen at most once.
 */

import type { ExecRequest, ExecStatus, StreamSlice } from '../../shared/contracts/daemon.ts';
import { packageDigest } from '../../shared/domain/canonical-package.ts';
import { publicKeyOf } from '../../shared/domain/daemon-signature.ts';
import { sha256Hex } from '../../shared/domain/sha256.ts';
import { TransientError } from '../../shared/domain/transient-error.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import { type SandboxClient, type SandboxHandle, SandboxRefused } from '../../shared/ports/sandbox-client.ts';
import type {
  LaunchSandbox,
  SandboxProvisioner,
  SandboxTask,
} from '../../shared/ports/sandbox-provisioner.ts';

export interface FakeScript {
  stdout?: string | Uint8Array;
  stderr?: string | Uint8Array;
  exit_code?: number;
  signal?: string;
  /** Milliseconds of the clock; longer than the request's time-out is one. */
  duration?: number;
  outputs?: Record<string, string | Uint8Array>;
  refused?: { path: string; reason: string }[];
  egress_denied?: string[];
}

export interface FakeTask {
  readonly request: LaunchSandbox;
  readonly task_id: string;
  readonly host: string;
  readonly created_at: string;
  status: 'starting' | 'running' | 'stopped' | 'missing';
  polls: number;
  bound?: string;
  manifest_digest?: string;
  readonly packages: Map<string, string>;
  readonly inputs: Map<string, string>;
  sealed: boolean;
  exec?: { id: string; request: ExecRequest; at: number };
}

const SLICE = 32 * 1024;

export class FakeSandboxes {
  readonly tasks = new Map<string, FakeTask>();
  readonly clock: Clock;
  script: FakeScript = {};
  /** Describes until a task runs. */
  startPolls = 1;
  execs = 0;
  calls: string[] = [];
  isolation: 'sandbox' | 'none' = 'sandbox';

  constructor(clock: Clock) {
    this.clock = clock;
  }

  alive(): FakeTask[] {
    return [...this.tasks.values()].filter(({ status }) => status === 'running' || status === 'starting');
  }

  /** The machine that ran them is gone: nobody knows the tasks any more. */
  loseAll(): void {
    for (const task of this.tasks.values()) task.status = 'missing';
  }

  readonly provisioner: SandboxProvisioner = (() => {
    const self = this;
    return {
      get isolation() {
        return self.isolation;
      },
      imageIdentity: async ({ name }: { name: string }) => `image-of-${name}`,
      launch: async (request: LaunchSandbox) => this.#launch(request),
      describe: async (ids: readonly string[]) => ids.map((id) => this.#describe(id)),
      stop: async (id: string) => {
        this.calls.push('stop');
        const task = this.tasks.get(id);
        if (task !== undefined) task.status = 'stopped';
      },
      list: async () => this.alive().map((task) => this.#view(task)),
    };
  })();

  #launch(request: LaunchSandbox): SandboxTask {
    this.calls.push('launch');
    const known = [...this.tasks.values()].find((task) => task.request.sandbox_id === request.sandbox_id);
    if (known !== undefined) return this.#view(known);
    const number = this.tasks.size + 1;
    const task: FakeTask = {
      request,
      task_id: `task-${number}`,
      host: `127.88.0.${number}`,
      created_at: new Date(this.clock.now()).toISOString(),
      status: 'starting',
      polls: 0,
      packages: new Map(),
      inputs: new Map(),
      sealed: false,
    };
    this.tasks.set(task.task_id, task);
    return this.#view(task);
  }

  #describe(id: string): SandboxTask {
    const task = this.tasks.get(id);
    if (task === undefined || task.status === 'missing') {
      return {
        task_id: id,
        sandbox_id: undefined,
        status: 'missing',
        address: undefined,
        stopped_reason: undefined,
        created_at: undefined,
      };
    }
    task.polls += 1;
    if (task.status === 'starting' && task.polls >= this.startPolls) task.status = 'running';
    return this.#view(task);
  }

  #view(task: FakeTask): SandboxTask {
    return {
      task_id: task.task_id,
      sandbox_id: task.request.sandbox_id,
      status: task.status,
      address: task.status === 'running' ? { host: task.host, port: 8477 } : undefined,
      stopped_reason: task.status === 'stopped' ? 'asked to' : undefined,
      created_at: task.created_at,
    };
  }

  readonly client: SandboxClient = {
    healthy: async ({ host, sandbox_id }) =>
      this.alive().some(
        (task) => task.host === host && task.status === 'running' && task.request.sandbox_id === sandbox_id,
      ),
    bind: async (handle, { run_id, manifest_digest }) => {
      const task = this.#reach(handle, 'bind');
      if (task.bound !== undefined && (task.bound !== run_id || task.manifest_digest !== manifest_digest)) {
        throw new SandboxRefused('bound_to_another', 'bound');
      }
      task.bound = run_id;
      task.manifest_digest = manifest_digest;
    },
    putPackage: async (handle, name, digest, bytes) => {
      const task = this.#reach(handle, 'putPackage');
      if (packageDigest(bytes) !== digest) throw new SandboxRefused('digest_mismatch', 'not these bytes');
      this.#put(task, task.packages, name, digest);
    },
    putInput: async (handle, path, sha256, bytes) => {
      const task = this.#reach(handle, 'putInput');
      if (sha256Hex(bytes) !== sha256) throw new SandboxRefused('digest_mismatch', 'not these bytes');
      this.#put(task, task.inputs, path, sha256);
    },
    seal: async (handle, request) => {
      const task = this.#reach(handle, 'seal');
      const packages = [...task.packages].map(([name, digest]) => ({ name, digest }));
      const inputs = [...task.inputs].map(([path, sha256]) => ({ path, sha256 }));
      if (packages.length !== request.packages.length) throw new SandboxRefused('digest_mismatch', 'extra');
      task.sealed = true;
      return { packages, inputs };
    },
    exec: async (handle, execId, request) => {
      const task = this.#reach(handle, 'exec');
      if (!task.sealed) throw new SandboxRefused('not_sealed', 'not sealed');
      if (task.exec !== undefined && task.exec.id !== execId) {
        throw new SandboxRefused('exists_with_other_content', 'another exec');
      }
      if (task.exec === undefined) {
        this.execs += 1;
        task.exec = { id: execId, request, at: this.clock.now() };
      }
    },
    execStatus: async (handle, execId, query) => {
      const task = this.#reach(handle, 'execStatus');
      if (task.exec?.id !== execId) throw new SandboxRefused('not_found', 'no such exec');
      return this.#status(task.exec, query);
    },
    listOutputs: async (handle) => {
      this.#reach(handle, 'listOutputs');
      const files = Object.entries(this.script.outputs ?? {}).map(([path, content]) => ({
        path,
        size_bytes: Buffer.from(content).length,
      }));
      return { files, refused: this.script.refused ?? [], truncated: false };
    },
    getOutput: async (handle, path, maxBytes) => {
      this.#reach(handle, 'getOutput');
      const content = this.script.outputs?.[path];
      if (content === undefined) throw new SandboxRefused('not_found', 'no such output');
      const bytes = Buffer.from(content);
      if (bytes.length > maxBytes) throw new SandboxRefused('too_large', 'too large');
      return bytes;
    },
  };

  #reach(handle: SandboxHandle, call: string): FakeTask {
    this.calls.push(call);
    const task = [...this.tasks.values()].find(
      ({ host, request }) => host === handle.host && request.sandbox_id === handle.sandbox_id,
    );
    if (task === undefined || task.status !== 'running') throw new TransientError('no answer');
    if (publicKeyOf(handle.private_key) !== task.request.public_key) {
      throw new SandboxRefused('bad_signature', 'another key');
    }
    if (call !== 'bind' && task.bound !== handle.run_id) throw new SandboxRefused('not_bound', 'not bound');
    return task;
  }

  #put(task: FakeTask, held: Map<string, string>, name: string, hash: string): void {
    const old = held.get(name);
    if (old !== undefined && old !== hash)
      throw new SandboxRefused('exists_with_other_content', 'other bytes');
    if (old === undefined && task.sealed) throw new SandboxRefused('sealed', 'sealed');
    held.set(name, hash);
  }

  async #status(
    exec: NonNullable<FakeTask['exec']>,
    {
      wait_ms,
      stdout_offset,
      stderr_offset,
    }: { wait_ms: number; stdout_offset: number; stderr_offset: number },
  ): Promise<ExecStatus> {
    const { duration = 0, exit_code = 0, signal = null } = this.script;
    const timed_out = duration > exec.request.timeout_ms;
    const ends = exec.at + Math.min(duration, exec.request.timeout_ms);
    if (this.clock.now() < ends) await this.clock.sleep(Math.min(wait_ms, ends - this.clock.now()));
    const exited = this.clock.now() >= ends;
    const killed = timed_out ? 'SIGKILL' : signal;
    return {
      exec_id: exec.id,
      state: exited ? 'exited' : 'running',
      exit_code: exited ? (timed_out ? 137 : exit_code) : null,
      signal: exited ? killed : null,
      timed_out: exited && timed_out,
      stdout: slice(this.script.stdout, stdout_offset),
      stderr: slice(this.script.stderr, stderr_offset),
      egress_denied: (this.script.egress_denied ?? []).map((alias) => ({
        alias,
        at: '2026-11-02T10:00:00Z',
      })),
      egress_denied_total: this.script.egress_denied?.length ?? 0,
    };
  }
}

function slice(content: string | Uint8Array | undefined, offset: number): StreamSlice {
  const all = Buffer.from(content ?? '');
  const kept = all.subarray(0, 256 * 1024);
  const data = kept.subarray(offset, offset + SLICE);
  return {
    data: data.toString('base64'),
    next_offset: offset + data.length,
    length: kept.length,
    truncated: all.length > kept.length,
  };
}
