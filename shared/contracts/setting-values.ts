/** What values of settings look like, and how a schema of settings says what each is for. Values are text. */
import * as z from 'zod';

export const PACKAGE_BACKENDS = ['config_registry', 's3', 'filesystem'] as const;
export type PackageBackendSetting = (typeof PACKAGE_BACKENDS)[number];

export interface SettingDescription {
  readonly effect: string;
  /** As it would be set; absent when there is none. */
  readonly default?: string;
  /** Ignored, with a warning, while another backend is selected. */
  readonly backend?: PackageBackendSetting;
  /** Known, but read by something else. */
  readonly read_by?: 'cli' | 'tests';
}

export interface Setting extends SettingDescription {
  readonly name: string;
}

const descriptions = z.registry<SettingDescription>();

/** The settings of a schema, in its order. */
export const describeSettings = (shape: Readonly<Record<string, z.core.$ZodType>>): readonly Setting[] =>
  Object.entries(shape).map(([name, schema]) => ({ name, ...(descriptions.get(schema) ?? { effect: '' }) }));

/** A default is given as text too. */
export function withDefault<T extends z.ZodType>(schema: T, value: z.input<T> & string, effect: string) {
  const setting = schema.prefault(value);
  descriptions.add<z.core.$ZodType>(setting, { effect, default: value });
  return setting;
}

export function withoutDefault<T extends z.ZodType>(
  schema: T,
  effect: string,
  more: Partial<SettingDescription> = {},
) {
  const setting = schema.optional();
  descriptions.add<z.core.$ZodType>(setting, { effect, ...more });
  return setting;
}

export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^[0-9]{1,15}$/, 'must be a whole number in decimal digits')
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`);

export const path = z.string().refine((text) => !text.includes('\0'), 'must be a path');

export const flag = z.enum(['0', '1'], 'must be 0 or 1').transform((value) => value === '1');

export const environmentName = z.enum(['development', 'production'], 'must be development or production');

export const logLevel = z.enum(['debug', 'info', 'warn', 'error'], 'must be debug, info, warn or error');

export const packageBackend = z.enum(PACKAGE_BACKENDS, 'must be config_registry, s3 or filesystem');

export const bucketName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be the name of a bucket');

/** Of object keys. */
export const keyPrefix = z
  .string()
  .regex(/^([A-Za-z0-9_][A-Za-z0-9._=-]*\/)+$/, 'must be names that each end in a slash, such as team-a/');

export const regionName = z
  .string()
  .regex(/^[a-z]{2}(-[a-z]+)+-[0-9]$/, 'must be a Region, such as us-east-1');

/** What the CLI reads: known wherever settings are read, so that one environment serves both. */
export const CLI_SETTINGS = {
  COGNITION_ENDPOINT: withoutDefault(z.string(), 'URL that the CLI calls', { read_by: 'cli' }),
  COGNITION_SCOPE: withoutDefault(z.string(), 'scope that the CLI asserts, such as `tenant=acme`', {
    read_by: 'cli',
  }),
  COGNITION_CONFIG_DIR: withoutDefault(z.string(), "folder of the CLI's own files", { read_by: 'cli' }),
} as const;
