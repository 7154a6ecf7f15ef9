/** The life of one sandbox: bound once, filled, sealed, one command, its outputs. Every step answers a repeat alike. */
import { mkdirSync } from 'node:fs';
import type {
  BindRequest,
  ExecRequest,
  ExecStatus,
  OutputList,
  SealReceipt,
  SealRequest,
} from '../../shared/contracts/daemon.ts';
import { sha256Hex } from '../../shared/domain/sha256.ts';
import type { CommandDriver, CommandSpec, ReadyCommand } from './command/command-driver.ts';
import { type ExecStatusQuery, type Execution, startExecution } from './command/execution.ts';
import { DaemonError, type DaemonErrorCode } from './daemon-error.ts';
import type { EgressAttempts } from './egress-broker.ts';
import {
  createMaterialization,
  type InputReceipt,
  type PackageReceipt,
  type PackageUpload,
  type SandboxFolders,
} from './materialize/materialization.ts';
import { listOutputs, openOutput } from './outputs/output-files.ts';

export type SandboxState = 'ready' | 'bound' | 'sealed' | 'executing' | 'exited' | 'dead';

export interface SandboxOptions {
  readonly folders: SandboxFolders;
  readonly driver: CommandDriver;
  readonly egress: EgressAttempts;
  /** @throws DaemonError for a request that cannot be started. */
  resolve(request: ExecRequest): CommandSpec;
  /** Told when the sandbox can serve its run no more. */
  onDead(reason: string): void;
}

export interface Sandbox {
  state(): SandboxState;
  runId(): string | undefined;
  bind(request: BindRequest): void;
  startPackage(name: string, digest: string): PackageUpload;
  putInput(path: string, sha256: string, bytes: Uint8Array): InputReceipt;
  seal(request: SealRequest): SealReceipt;
  exec(execId: string, request: ExecRequest): Promise<void>;
  execStatus(execId: string, query: ExecStatusQuery): Promise<ExecStatus>;
  listOutputs(): OutputList;
  openOutput(path: string): { descriptor: number; size: number };
}

export function createSandbox(options: SandboxOptions): Sandbox {
  const materialization = createMaterialization(options.folders);
  mkdirSync(options.folders.outputs, { recursive: true });
  let state: SandboxState = 'ready';
  let death: { code: DaemonErrorCode; reason: string } | undefined;
  let bound: BindRequest | undefined;
  let sealed: { request: string; receipt: SealReceipt } | undefined;
  let exec: { id: string; request: string; execution: Promise<Execution> } | undefined;

  const die = (code: DaemonErrorCode, reason: string): void => {
    state = 'dead';
    death ??= { code, reason };
    options.onDead(reason);
  };
  const alive = (): void => {
    if (death !== undefined) throw new DaemonError(death.code, `this sandbox is dead: ${death.reason}`);
    if (bound === undefined) throw new DaemonError('not_bound', 'this sandbox is bound to no run yet');
  };
  const unsealed = (): void => {
    alive();
    if (state !== 'bound') throw new DaemonError('sealed', 'this sandbox is sealed; nothing more comes in');
  };
  // Made ready as early as possible: its init holds nothing of a run, and sees no more than the command may.
  let warm: Promise<ReadyCommand> | undefined = options.driver.prepare();
  warm.catch((error: unknown) => die('internal', error instanceof Error ? error.message : String(error)));

  const start = async (execId: string, request: ExecRequest, spec: CommandSpec): Promise<Execution> => {
    const ready = await (warm ?? options.driver.prepare());
    warm = undefined;
    return startExecution({
      exec_id: execId,
      ready,
      spec,
      timeout_ms: request.timeout_ms,
      stream_bytes: request.stream_bytes,
      egress: options.egress,
    });
  };
  const afterExit = (): void => {
    alive();
    if (state === 'executing') throw new DaemonError('still_running', 'the command has not ended yet');
    if (state !== 'exited') throw new DaemonError('not_found', 'no command has run in this sandbox');
  };

  return {
    state: () => state,
    runId: () => bound?.run_id,
    bind: (request) => {
      if (death !== undefined) return alive();
      if (bound === undefined) {
        bound = request;
        state = 'bound';
      } else if (bound.run_id !== request.run_id || bound.manifest_digest !== request.manifest_digest) {
        throw new DaemonError('bound_to_another', 'this sandbox is bound to another run or manifest');
      }
    },
    startPackage: (name, digest) => {
      unsealed();
      const upload = materialization.startPackage(name, digest);
      const finish = (): PackageReceipt => {
        unsealed();
        return upload.finish();
      };
      return { ...upload, finish };
    },
    putInput: (path, sha256, bytes) => {
      unsealed();
      return materialization.putInput(path, sha256, bytes);
    },
    seal: (request) => {
      alive();
      const asked = JSON.stringify(request);
      if (sealed !== undefined) {
        if (sealed.request === asked) return sealed.receipt;
        throw new DaemonError('sealed', 'this sandbox was sealed with another content');
      }
      try {
        sealed = { request: asked, receipt: materialization.seal(request) };
      } catch (error) {
        die('digest_mismatch', error instanceof Error ? error.message : String(error));
        throw error;
      }
      state = 'sealed';
      return sealed.receipt;
    },
    exec: async (execId, request) => {
      alive();
      if (sealed === undefined) throw new DaemonError('not_sealed', 'this sandbox is not sealed yet');
      const asked = sha256Hex(JSON.stringify(request));
      if (exec !== undefined) {
        if (exec.id !== execId || exec.request !== asked) {
          throw new DaemonError('exists_with_other_content', 'this sandbox has had its command already');
        }
        await exec.execution;
        return;
      }
      const spec = options.resolve(request);
      state = 'executing';
      exec = { id: execId, request: asked, execution: start(execId, request, spec) };
      const execution = await exec.execution.catch((error: unknown) => {
        die('internal', `the command could not be started: ${String(error)}`);
        throw error;
      });
      void execution.exited.then(() => {
        if (state === 'executing') state = 'exited';
      });
    },
    execStatus: async (execId, query) => {
      alive();
      if (exec?.id !== execId) throw new DaemonError('not_found', `there is no exec ${execId}`);
      return (await exec.execution).status(query);
    },
    listOutputs: () => {
      afterExit();
      return listOutputs(options.folders.outputs);
    },
    openOutput: (path) => {
      afterExit();
      return openOutput(options.folders.outputs, path);
    },
  };
}
