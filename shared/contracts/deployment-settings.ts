/** What a deployment on AWS is made of, as `cdk synth` reads it from the COGNITION_* settings and the files they name. */
import type { SandboxProfile } from './sandbox-profile.ts';
import type { ScopeBinding } from './scope.ts';

export type DeploymentPackages =
  | { readonly backend: 'config_registry' }
  | {
      readonly backend: 's3';
      /** An existing bucket; undefined: the deployment makes one. */
      readonly bucket: string | undefined;
      /** Empty, or ends in a slash. */
      readonly prefix: string;
      /** Region of an existing bucket; undefined: that of the deployment. */
      readonly region: string | undefined;
    };

/** Where API Gateway checks no signatures and some resource types are unknown. Never in production. */
export interface EmulatorSettings {
  /** The principal of a call for which API Gateway names none, `<account id>/<role unique id>`. */
  readonly unsafe_caller: string;
  /** Where functions reach ECS; undefined: where they reach everything else. */
  readonly endpoint_url_ecs: string | undefined;
}

export interface DeploymentSettings {
  /** Stacks are `<deployment>-storage` and so on, functions `<deployment>-<name>`. */
  readonly deployment: string;
  readonly environment: 'development' | 'production';
  readonly log_level: 'debug' | 'info' | 'warn' | 'error';
  /** At least one. */
  readonly bindings: readonly ScopeBinding[];
  /** At least one. */
  readonly profiles: readonly SandboxProfile[];
  readonly packages: DeploymentPackages;
  /** 0: no pool. */
  readonly sandbox_pool_size: number;
  /** Of one scope. */
  readonly runs_at_once: number;
  /** URI of an image that exists; undefined: it is built. */
  readonly sandbox_image: string | undefined;
  readonly sandbox_architecture: 'arm64' | 'x64';
  readonly availability_zones: number;
  /** Whether table, buckets and key outlive their stack. */
  readonly retain_data: boolean;
  readonly log_retention_days: number;
  readonly alarm_email: string | undefined;
  readonly waf: boolean;
  /** Requests a second. */
  readonly api_rate: number;
  readonly api_burst: number;
  /** Undefined on AWS. */
  readonly emulator: EmulatorSettings | undefined;
}
