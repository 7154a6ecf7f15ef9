/** What a deployment on AWS is made of, as `cdk synth` reads it from the COGNITION_* settings and the files they name. */
import type * as z from 'zod';
import { type ReadJson, readBindings, readProfiles } from './deployment-files.ts';
import {
  DEFAULT_DEPLOYMENT_BACKEND,
  DEPLOYMENT_SETTINGS,
  deploymentSchema,
} from './deployment-setting-schema.ts';
import {
  type Environment,
  type Given,
  givenSettings,
  InvalidSettings,
  type SettingPlace,
  settingProblems,
} from './given-settings.ts';
import { imageProblem, namesDigest } from './image-uri.ts';
import type { SandboxProfile } from './sandbox-profile.ts';
import type { ScopeBinding } from './scope.ts';
import { SETTINGS } from './settings.ts';

export type DeploymentPackages =
  | { readonly backend: 'config_registry' }
  | {
      readonly backend: 's3';
      /** An existing bucket in the Region of the deployment; undefined: the deployment makes one. */
      readonly bucket: string | undefined;
      /** Empty, or ends in a slash. */
      readonly prefix: string;
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
  /** Image that it is built on; undefined: the one that the Dockerfile names. */
  readonly sandbox_base: string | undefined;
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

export interface ParsedDeployment {
  readonly settings: DeploymentSettings;
  /** To be shown at synth: what was ignored, and what is unsafe. */
  readonly warnings: readonly string[];
}

const DEPLOYMENT: SettingPlace = {
  settings: DEPLOYMENT_SETTINGS,
  default_environment: 'production',
  default_backend: DEFAULT_DEPLOYMENT_BACKEND,
  other_place: 'a standalone server',
  other_settings: SETTINGS,
};

/**
 * Reads the COGNITION_* of an environment and the files they name; an empty value counts as not set. The Region is
 * CDK_DEFAULT_REGION's, which the CDK's command sets.
 * @throws InvalidSettings with every problem, a line each, those of the files among them.
 */
export function parseDeploymentSettings(environment: Environment, readJson: ReadJson): ParsedDeployment {
  const selected = givenSettings(environment, DEPLOYMENT);
  const { given } = selected;
  const parsed = deploymentSchema.safeParse(given);
  const bindings = readBindings(given.COGNITION_SCOPE_BINDINGS, readJson);
  const profiles = readProfiles(given.COGNITION_SANDBOX_PROFILES, readJson);
  const problems = [
    ...settingProblems(parsed.error, DEPLOYMENT_SETTINGS, given),
    ...combinationProblems(given, selected, environment.CDK_DEFAULT_REGION || undefined),
    ...selected.problems,
    ...emulatorProblems(given, selected.environment),
    ...bindings.problems,
    ...profiles.problems,
  ];
  if (!parsed.success || problems.length > 0) throw new InvalidSettings(problems);
  const settings = toSettings(parsed.data, bindings.read, profiles.read);
  return { settings, warnings: [...selected.warnings, ...unsafeChoices(settings)] };
}

type Values = z.infer<typeof deploymentSchema>;

function toSettings(
  values: Values,
  bindings: readonly ScopeBinding[],
  profiles: readonly SandboxProfile[],
): DeploymentSettings {
  const caller = values.COGNITION_UNSAFE_CALLER;
  return {
    deployment: values.COGNITION_DEPLOYMENT,
    environment: values.COGNITION_ENVIRONMENT,
    log_level: values.COGNITION_LOG_LEVEL,
    bindings,
    profiles,
    packages: packagesOf(values),
    sandbox_pool_size: values.COGNITION_SANDBOX_POOL_SIZE,
    runs_at_once: values.COGNITION_RUNS_AT_ONCE,
    sandbox_image: values.COGNITION_SANDBOX_IMAGE,
    sandbox_base: values.COGNITION_SANDBOX_BASE,
    sandbox_architecture: values.COGNITION_SANDBOX_ARCHITECTURE,
    availability_zones: values.COGNITION_AVAILABILITY_ZONES,
    retain_data: values.COGNITION_RETAIN_DATA,
    log_retention_days: values.COGNITION_LOG_RETENTION_DAYS,
    alarm_email: values.COGNITION_ALARM_EMAIL,
    waf: values.COGNITION_WAF,
    api_rate: values.COGNITION_API_RATE,
    api_burst: values.COGNITION_API_BURST,
    emulator:
      caller === undefined
        ? undefined
        : { unsafe_caller: caller, endpoint_url_ecs: values.COGNITION_ENDPOINT_URL_ECS },
  };
}

function packagesOf(values: Values): DeploymentPackages {
  if (values.COGNITION_SKILLS_BACKEND !== 's3') return { backend: 'config_registry' };
  const { COGNITION_SKILLS_S3_BUCKET: bucket, COGNITION_SKILLS_S3_PREFIX: prefix = '' } = values;
  return { backend: 's3', bucket, prefix };
}

// On the text, so that these are reported together with whatever else is wrong.
function combinationProblems(
  given: Given,
  { backend }: { readonly backend: string },
  region: string | undefined,
): string[] {
  const problems: string[] = [];
  if (backend === 'filesystem') {
    problems.push('COGNITION_SKILLS_BACKEND filesystem is for standalone servers: use s3 or config_registry');
  }
  const { COGNITION_SKILLS_S3_REGION: bucketRegion, COGNITION_SKILLS_S3_BUCKET: bucket } = given;
  if (bucketRegion !== undefined && bucket === undefined) {
    const fix = 'name it in COGNITION_SKILLS_S3_BUCKET, or leave the Region out';
    problems.push(`COGNITION_SKILLS_S3_REGION is the Region of an existing bucket: ${fix}`);
  } else if (bucketRegion !== undefined && region !== undefined && bucketRegion !== region) {
    problems.push(
      `COGNITION_SKILLS_S3_REGION is ${bucketRegion}, but the network reaches only ${region}: use a bucket there`,
    );
  }
  const image = given.COGNITION_SANDBOX_IMAGE;
  if (image !== undefined && given.COGNITION_UNSAFE_CALLER === undefined) {
    const problem = imageProblem(image, region);
    if (problem !== undefined) problems.push(`COGNITION_SANDBOX_IMAGE ${problem}`);
  }
  const base = given.COGNITION_SANDBOX_BASE;
  if (base !== undefined && image !== undefined) {
    const fix = 'leave one of the two out';
    problems.push(
      `COGNITION_SANDBOX_BASE is for an image that is built, but COGNITION_SANDBOX_IMAGE names one: ${fix}`,
    );
  }
  if (base !== undefined && !namesDigest(base)) {
    problems.push('COGNITION_SANDBOX_BASE names no digest: end it with @sha256: and 64 hex digits');
  }
  return problems;
}

function emulatorProblems(given: Given, environment: string): string[] {
  if (given.COGNITION_ENDPOINT_URL_ECS === undefined) return [];
  if (environment === 'production') return ['COGNITION_ENDPOINT_URL_ECS is for development: leave it out'];
  if (given.COGNITION_UNSAFE_CALLER !== undefined) return [];
  return ['COGNITION_ENDPOINT_URL_ECS is for emulators: set COGNITION_UNSAFE_CALLER too, or leave it out'];
}

function unsafeChoices({ emulator }: DeploymentSettings): string[] {
  if (emulator === undefined) return [];
  const { unsafe_caller } = emulator;
  return [
    `COGNITION_UNSAFE_CALLER is set: every caller without an identity is ${unsafe_caller}, and the network is open`,
  ];
}
