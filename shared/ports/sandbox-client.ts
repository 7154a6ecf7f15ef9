/** Calls one sandbox's daemon: signed, without redirects or decompression, with a cap on every answer. */
import type {
  BindRequest,
  ExecRequest,
  ExecStatus,
  OutputList,
  SealReceipt,
  SealRequest,
} from '../contracts/daemon.ts';

export interface SandboxHandle {
  readonly sandbox_id: string;
  readonly run_id: string;
  readonly host: string;
  readonly port: number;
  /** PKCS8 DER, base64. */
  readonly private_key: string;
}

/**
 * Every method throws TransientError when the daemon did not answer (connection, time-out), SandboxRefused when
 * it answered with an error or with something that is not of the protocol.
 */
export interface SandboxClient {
  bind(sandbox: SandboxHandle, request: BindRequest): Promise<void>;
  putPackage(sandbox: SandboxHandle, name: string, digest: string, bytes: Uint8Array): Promise<void>;
  putInput(sandbox: SandboxHandle, path: string, sha256: string, bytes: Uint8Array): Promise<void>;
  seal(sandbox: SandboxHandle, request: SealRequest): Promise<SealReceipt>;
  exec(sandbox: SandboxHandle, execId: string, request: ExecRequest): Promise<void>;
  execStatus(
    sandbox: SandboxHandle,
    execId: string,
    query: { wait_ms: number; stdout_offset: number; stderr_offset: number },
  ): Promise<ExecStatus>;
  listOutputs(sandbox: SandboxHandle): Promise<OutputList>;
  /** At most `maxBytes`, else SandboxRefused. */
  getOutput(sandbox: SandboxHandle, path: string, maxBytes: number): Promise<Uint8Array>;
  /** True when the daemon of this sandbox answers: another one may have its address by now. */
  healthy(sandbox: Pick<SandboxHandle, 'sandbox_id' | 'host' | 'port'>, timeoutMs: number): Promise<boolean>;
}

export class SandboxRefused extends Error {
  override readonly name = 'SandboxRefused';
  /** A DAEMON_ERROR_CODES code, or `protocol` for an answer that is none. */
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
