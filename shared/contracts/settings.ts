/**
 * What an operator sets in the environment of the control plane. SETTINGS lists it all, and docs/settings.md is
 * checked against that list; parseSettings reads an environment and reports every problem at once.
 */
import * as z from 'zod';
import { nearestName } from './nearest-name.ts';

const BACKENDS = ['config_registry', 's3', 'filesystem'] as const;
type Backend = (typeof BACKENDS)[number];

interface Description {
  readonly effect: string;
  /** As it would be set; absent when there is none. */
  readonly default?: string;
  /** Ignored, with a warning, while another backend is selected. */
  readonly backend?: Backend;
  /** Known, but read by something else than the server. */
  readonly read_by?: 'cli' | 'tests';
}

const descriptions = z.registry<Description>();
const DEFAULT_BACKEND = 'config_registry';

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^[0-9]{1,15}$/, 'is a whole number in decimal digits')
    .transform(Number)
    .refine((value) => value >= min && value <= max, `is a whole number from ${min} to ${max}`);
const path = z.string().refine((text) => !text.includes('\0'), 'is a path');

/** Each value is text, as environments have it; a default is given as text too. */
function withDefault<T extends z.ZodType>(schema: T, value: z.input<T> & string, effect: string) {
  const setting = schema.prefault(value);
  descriptions.add<z.core.$ZodType>(setting, { effect, default: value });
  return setting;
}

function withoutDefault<T extends z.ZodType>(schema: T, effect: string, more: Partial<Description> = {}) {
  const setting = schema.optional();
  descriptions.add<z.core.$ZodType>(setting, { effect, ...more });
  return setting;
}

const environmentSchema = z.strictObject({
  COGNITION_ENVIRONMENT: withDefault(
    z.enum(['development', 'production'], 'is development or production'),
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
    z.enum(['debug', 'info', 'warn', 'error'], 'is debug, info, warn or error'),
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
    z.enum(['0', '1'], 'is 0 or 1').transform((value) => value === '1'),
    '0',
    '`1` runs commands without a sandbox where none can be had; each run warns',
  ),
  COGNITION_SKILLS_BACKEND: withDefault(
    z.enum(BACKENDS, 'is config_registry, s3 or filesystem'),
    DEFAULT_BACKEND,
    'where package bytes are: `config_registry`, `s3` or `filesystem`',
  ),
  COGNITION_SKILLS_FILESYSTEM_ROOT: withoutDefault(
    path,
    'folder of the packages; left out, `skills` in the data folder',
    { backend: 'filesystem' },
  ),
  COGNITION_SKILLS_S3_BUCKET: withoutDefault(
    z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'is the name of a bucket'),
    'bucket of the packages; required',
    { backend: 's3' },
  ),
  COGNITION_SKILLS_S3_PREFIX: withoutDefault(
    z.string().regex(/^([A-Za-z0-9_][A-Za-z0-9._=-]*\/)+$/, 'is of names that each end in a slash'),
    'what the keys of packages begin with, such as `packages/`; left out, nothing',
    { backend: 's3' },
  ),
  COGNITION_SKILLS_S3_REGION: withoutDefault(
    z.string().regex(/^[a-z]{2}(-[a-z]+)+-[0-9]$/, 'is a Region, such as us-east-1'),
    'Region of the bucket; left out, that of the deployment',
    { backend: 's3' },
  ),
  COGNITION_ENDPOINT: withoutDefault(z.string(), 'URL that the CLI calls', { read_by: 'cli' }),
  COGNITION_SCOPE: withoutDefault(z.string(), 'scope that the CLI asserts, such as `tenant=acme`', {
    read_by: 'cli',
  }),
  COGNITION_CONFIG_DIR: withoutDefault(z.string(), "folder of the CLI's own files", { read_by: 'cli' }),
  COGNITION_TEST_ENDPOINT: withoutDefault(z.string(), 'server that the black-box tests call', {
    read_by: 'tests',
  }),
});

/** In the order in which docs list them. */
export const SETTINGS: readonly (Description & { readonly name: string })[] = Object.entries(
  environmentSchema.shape,
).map(([name, schema]) => ({ name, ...(descriptions.get(schema) ?? { effect: '' }) }));

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

/** All problems of an environment; the message has each on a line of its own. */
export class InvalidSettings extends Error {
  override readonly name = 'InvalidSettings';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`the settings are not valid:\n${problems.map((problem) => `- ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

type Given = Readonly<Record<string, string>>;

/**
 * Reads the COGNITION_* of an environment; an empty value counts as not set.
 * @throws InvalidSettings with every problem, unknown names among them.
 */
export function parseSettings(environment: Readonly<Record<string, string | undefined>>): ParsedSettings {
  const all = Object.entries(environment).filter(
    (entry): entry is [string, string] => entry[0].startsWith('COGNITION_') && Boolean(entry[1]),
  );
  const backend = environment.COGNITION_SKILLS_BACKEND || DEFAULT_BACKEND;
  const ignored = SETTINGS.filter((setting) => setting.backend !== undefined && setting.backend !== backend)
    .map((setting) => setting.name)
    .filter((name) => all.some(([given]) => given === name));
  const given: Given = Object.fromEntries(all.filter(([name]) => !ignored.includes(name)));
  const parsed = environmentSchema.safeParse(given);
  const problems = [...(parsed.error?.issues ?? []).flatMap(problemsOf), ...combinationProblems(given)];
  if (!parsed.success || problems.length > 0) throw new InvalidSettings(problems);
  return {
    settings: toSettings(parsed.data),
    warnings: [
      ...ignored.map((name) => `${name} is ignored: COGNITION_SKILLS_BACKEND is ${backend}`),
      ...unsafeChoices(given),
    ],
  };
}

const settingNames = (): string[] => SETTINGS.map((setting) => setting.name);

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

function problemsOf(issue: z.core.$ZodIssue): string[] {
  if (issue.code !== 'unrecognized_keys') return [`${issue.path.join('.')} ${issue.message}`];
  return issue.keys.map(
    (name) => `${name} is not a setting: did you mean ${nearestName(name, settingNames())}?`,
  );
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
  if (given.COGNITION_UNSAFE_NO_ISOLATION === '1') {
    problems.push('COGNITION_UNSAFE_NO_ISOLATION is for development: leave it out');
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
