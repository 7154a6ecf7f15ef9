/** Starts and stops sandbox tasks: ECS, or anything that speaks its wire protocol. */
import type { SandboxProfile } from '../contracts/sandbox-profile.ts';

export interface LaunchSandbox {
  /** Also the clientToken: the same id never starts two tasks. */
  readonly sandbox_id: string;
  readonly profile: SandboxProfile;
  /** Ed25519, SPKI DER, base64. */
  readonly public_key: string;
  /** For tags only; absent for a pooled sandbox, which belongs to nobody. */
  readonly run?: { readonly fingerprint: string; readonly run_id: string };
}

export interface SandboxTask {
  readonly task_id: string;
  readonly sandbox_id: string | undefined;
  /** `missing`: the provider does not know it (any more). */
  readonly status: 'starting' | 'running' | 'stopped' | 'missing';
  readonly address: { readonly host: string; readonly port: number } | undefined;
  readonly stopped_reason: string | undefined;
  /** RFC 3339. */
  readonly created_at: string | undefined;
}

export interface SandboxProvisioner {
  /** What would run: image digest, or locally the hash of bundle, Node, seccomp program and profile. */
  imageIdentity(profile: SandboxProfile): Promise<string>;
  /** `none` only where the explicit unsafe setting took isolation away. */
  readonly isolation: 'sandbox' | 'none';
  /** @throws TransientError when capacity may come; CognitionError `sandbox_unavailable` when it will not. */
  launch(request: LaunchSandbox): Promise<SandboxTask>;
  describe(taskIds: readonly string[]): Promise<readonly SandboxTask[]>;
  /** No error when it is gone already. @throws TransientError. */
  stop(taskId: string, reason: string): Promise<void>;
  /** Every task of ours that is not stopped, for the reaper. */
  list(): Promise<readonly SandboxTask[]>;
}
