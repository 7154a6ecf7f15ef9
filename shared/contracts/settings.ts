/**
 * What an operator sets in the environment of the control plane. SETTINGS lists it all, and docs/settings.md is
 * checked against that list; parseSettings reads an environment and reports every problem at once.
 */
import * as z from 'zod';
import { DEPLOYMENT_SETTINGS } from './deployment-setting-schema.ts';
import {
  type Environment,
  type Given,
  givenSettings,
  InvalidSettings,
  type SettingPlace,
  settingProblems,
} from './given-settings.ts';
import {
  bucketName,
  CLI_SETTINGS,
  describeSettings,
  environmentName,
  flag,
  keyPrefix,
  logLevel,
  packageBackend,
  path,
  regionName,
  wholeNumber,
  withDefault,
  withoutDefault,
} from './setting-values.ts';

export { InvalidSettings };

const DEFAULT_BACKEND = 'config_registry';

const environmentSchema = z.strictObject({
  COGNITION_ENVIRONMENT: withDefault(
    environmentName,
    'development',
    '`production` refuses the filesystem backend and every unsafe setting',
  ),
  COGNITION_PORT: withDefault(wholeNumber(0, 65_535), '8787', 'port on 127.0.0.1; 0 takes a free one'),
  COGNITION_DATA_DIR: withDefault(
    path,
    '.cognition-local',
    'folder of the table, the artifacts and the keys of a standalone server',
  ),
  COGNITION_LOG_LEVEL: withDefault(
    logLevel,
    'info',
    'the least severe log line that is written: `debug` (a line for each request too), `info`, `warn` or `error`',
  ),
  COGNITION_SCOPE_BINDINGS: withoutDefault(path, 'JSON file: which principal may assert which scopes'),
  COGNITION_SANDBOX_PROFILES: withoutDefault(path, 'JSON file with the sandbox profiles'),
  COGNITION_SANDBOX_POOL_SIZE: withDefault(
    wholeNumber(0, 1_000),
    '2',
    'started sandboxes of each profile that wait for a run; 0 starts each on demand',
  ),
  COGNITION_MAX_TASKS: withDefault(
    wholeNumber(1, 10_000),
    '16',
    'sandboxes at once on this machine; more of them queue',
  ),
  COGNITION_RUNS_AT_ONCE: withDefault(
    wholeNumber(1, 100_000),
    '500',
    'runs under way in one scope; one more is answered with 429',
  ),
  COGNITION_UNSAFE_NO_ISOLATION: withDefault(
    flag,
    '0',
    '`1` runs commands without a sandbox where none can be had; each run warns',
  ),
  COGNITION_SKILLS_BACKEND: withDefault(
    packageBackend,
    DEFAULT_BACKEND,
    'where package bytes are: `config_registry`, `s3` or `filesystem`',
  ),
  COGNITION_SKILLS_FILESYSTEM_ROOT: withoutDefault(
    path,
    'folder of the packages; left out, `skills` in the data folder',
    { backend: 'filesystem' },
  ),
  COGNITION_SKILLS_S3_BUCKET: withoutDefault(bucketName, 'bucket of the packages; required', {
    backend: 's3',
  }),
  COGNITION_SKILLS_S3_PREFIX: withoutDefault(
    keyPrefix,
    'what the keys of packages begin with, such as `packages/`; left out, nothing',
    { backend: 's3' },
  ),
  COGNITION_SKILLS_S3_REGION: withoutDefault(
    regionName,
    'Region of the bucket; left out, that of the deployment',
    { backend: 's3' },
  ),
  ...CLI_SETTINGS,
  COGNITION_TEST_ENDPOINT: withoutDefault(z.string(), 'server that the black-box tests call', {
    read_by: 'tests',
  }),
});

/** In the order in which docs list them. */
export const SETTINGS = describeSettings(environmentSchema.shape);

export type PackageSettings =
  | { readonly backend: 'config_registry' }
  /** `root` undefined: `skills` in the data folder. */
  | { readonly backend: 'filesystem'; readonly root: string | undefined }
  | {
      readonly backend: 's3';
      readonly bucket: string;
      readonly prefix: string;
      readonly region: string | undefined;
    };

export interface Settings {
  readonly environment: 'development' | 'production';
  readonly port: number;
  readonly data_dir: string;
  readonly log_level: 'debug' | 'info' | 'warn' | 'error';
  readonly scope_bindings_file: string | undefined;
  readonly sandbox_profiles_file: string | undefined;
  readonly sandbox_pool_size: number;
  readonly max_tasks: number;
  readonly runs_at_once: number;
  readonly unsafe_no_isolation: boolean;
  readonly packages: PackageSettings;
}

export interface ParsedSettings {
  readonly settings: Settings;
  /** To be logged at start: what was ignored, and what is unsafe. */
  readonly warnings: readonly string[];
}

const STANDALONE: SettingPlace = {
  settings: SETTINGS,
  default_environment: 'development',
  default_backend: DEFAULT_BACKEND,
  other_place: 'a deployment',
  other_settings: DEPLOYMENT_SETTINGS,
};

/**
 * Reads the COGNITION_* of an environment; an empty value counts as not set.
 * @throws InvalidSettings with every problem, unknown names among them.
 */
export function parseSettings(environment: Environment): ParsedSettings {
  const { given, warnings, problems: unsafe } = givenSettings(environment, STANDALONE);
  const parsed = environmentSchema.safeParse(given);
  const problems = [
    ...settingProblems(parsed.error, SETTINGS, given),
    ...combinationProblems(given),
    ...unsafe,
  ];
  if (!parsed.success || problems.length > 0) throw new InvalidSettings(problems);
  return { settings: toSettings(parsed.data), warnings: [...warnings, ...unsafeChoices(given)] };
}

function toSettings(values: z.infer<typeof environmentSchema>): Settings {
  return {
    environment: values.COGNITION_ENVIRONMENT,
    port: values.COGNITION_PORT,
    data_dir: values.COGNITION_DATA_DIR,
    log_level: values.COGNITION_LOG_LEVEL,
    scope_bindings_file: values.COGNITION_SCOPE_BINDINGS,
    sandbox_profiles_file: values.COGNITION_SANDBOX_PROFILES,
    sandbox_pool_size: values.COGNITION_SANDBOX_POOL_SIZE,
    max_tasks: values.COGNITION_MAX_TASKS,
    runs_at_once: values.COGNITION_RUNS_AT_ONCE,
    unsafe_no_isolation: values.COGNITION_UNSAFE_NO_ISOLATION,
    packages: packageSettings(values),
  };
}

function packageSettings(values: z.infer<typeof environmentSchema>): PackageSettings {
  switch (values.COGNITION_SKILLS_BACKEND) {
    case 'config_registry':
      return { backend: 'config_registry' };
    case 'filesystem':
      return { backend: 'filesystem', root: values.COGNITION_SKILLS_FILESYSTEM_ROOT };
    case 's3':
      return {
        backend: 's3',
        bucket: values.COGNITION_SKILLS_S3_BUCKET ?? '',
        prefix: values.COGNITION_SKILLS_S3_PREFIX ?? '',
        region: values.COGNITION_SKILLS_S3_REGION,
      };
  }
}

// On the text, so that these are reported together with whatever else is wrong.
function combinationProblems(given: Given): string[] {
  const problems: string[] = [];
  if (given.COGNITION_SKILLS_BACKEND === 's3' && given.COGNITION_SKILLS_S3_BUCKET === undefined) {
    problems.push('COGNITION_SKILLS_S3_BUCKET is required when COGNITION_SKILLS_BACKEND is s3');
  }
  if (given.COGNITION_ENVIRONMENT !== 'production') return problems;
  if (given.COGNITION_SKILLS_BACKEND === 'filesystem') {
    problems.push('COGNITION_SKILLS_BACKEND filesystem is for development: use s3 or config_registry');
  }
  return problems;
}

function unsafeChoices(given: Given): string[] {
  const warnings: string[] = [];
  if (given.COGNITION_SKILLS_BACKEND === 'filesystem') {
    warnings.push('COGNITION_SKILLS_BACKEND is filesystem: for development on one machine only');
  }
  if (given.COGNITION_UNSAFE_NO_ISOLATION === '1') {
    warnings.push('COGNITION_UNSAFE_NO_ISOLATION is 1: commands may run without a sandbox, as this user');
  }
  return warnings;
}
