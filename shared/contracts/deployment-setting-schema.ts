/**
 * What an operator sets for a deployment on AWS, in the words of a standalone server where the two have the same
 * setting. docs/settings.md is checked against DEPLOYMENT_SETTINGS.
 */
import * as z from 'zod';
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

export const DEFAULT_DEPLOYMENT_BACKEND = 's3';

/** What CloudWatch Logs takes, in days. */
const RETENTIONS = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

/** Names of functions and roles are made of it, and have at most 64 characters. */
const deploymentName = z
  .string()
  .regex(
    /^[a-z](-?[a-z0-9]){0,19}$/,
    'must be 1 to 20 lower-case letters, digits and single hyphens, beginning with a letter',
  );

const retentionDays = z
  .string()
  .refine(
    (text) => RETENTIONS.some((days) => String(days) === text),
    `must be a number of days that CloudWatch Logs knows: ${RETENTIONS.join(', ')}`,
  )
  .transform(Number);

const emailAddress = z.string().regex(/^[^\s@,;]{1,64}@[A-Za-z0-9.-]{1,190}$/, 'must be one e-mail address');

const principal = z
  .string()
  .regex(
    /^[0-9]{12}\/A[A-Z0-9]{15,127}$/,
    'must be <account id>/<role unique id>, such as 000000000000/AROA…',
  );

const imageUri = z.string().regex(/^[^\s"'$]{1,1024}$/, 'must be the URI of an image');

const httpUrl = z.url({ protocol: /^https?$/, error: 'must be a URL that begins with http:// or https://' });

export const deploymentSchema = z.strictObject({
  COGNITION_DEPLOYMENT: withDefault(
    deploymentName,
    'cognition',
    'what the names of stacks and functions begin with',
  ),
  COGNITION_ENVIRONMENT: withDefault(
    environmentName,
    'production',
    '`production` refuses every unsafe setting',
  ),
  COGNITION_SCOPE_BINDINGS: withoutDefault(
    path,
    'JSON file: which principal may assert which scopes; required',
  ),
  COGNITION_SANDBOX_PROFILES: withoutDefault(
    path,
    'JSON file with the sandbox profiles; left out, `default` alone',
  ),
  COGNITION_SANDBOX_POOL_SIZE: withDefault(
    wholeNumber(0, 1_000),
    '0',
    'started sandboxes of each profile that wait for a run, at their price by the hour; 0 starts each on demand',
  ),
  COGNITION_SANDBOX_IMAGE: withoutDefault(
    imageUri,
    'URI of an image in ECR, by digest, in the Region of the deployment; left out, it is built with Docker',
  ),
  COGNITION_SANDBOX_BASE: withoutDefault(
    imageUri,
    'image that the one of sandboxes is built on, by digest: Debian 13 or what is made of it; left out, the one that the Dockerfile names',
  ),
  COGNITION_SANDBOX_ARCHITECTURE: withDefault(
    z.enum(['arm64', 'x64'], 'must be arm64 or x64'),
    'arm64',
    'processor of sandboxes, `arm64` or `x64`, and of the image that is built',
  ),
  COGNITION_RUNS_AT_ONCE: withDefault(
    wholeNumber(1, 100_000),
    '500',
    'runs under way in one scope; one more is answered with 429',
  ),
  COGNITION_SKILLS_BACKEND: withDefault(
    packageBackend,
    DEFAULT_DEPLOYMENT_BACKEND,
    'where package bytes are: `s3`, or `config_registry` (in the table)',
  ),
  COGNITION_SKILLS_FILESYSTEM_ROOT: withoutDefault(path, 'of standalone servers only', {
    backend: 'filesystem',
  }),
  COGNITION_SKILLS_S3_BUCKET: withoutDefault(
    bucketName,
    'existing bucket of the packages; left out, the deployment makes one',
    { backend: 's3' },
  ),
  COGNITION_SKILLS_S3_PREFIX: withoutDefault(
    keyPrefix,
    'what the keys of packages begin with, such as `team-a/`; left out, nothing',
    { backend: 's3' },
  ),
  COGNITION_SKILLS_S3_REGION: withoutDefault(
    regionName,
    'Region of an existing bucket; it has to be that of the deployment',
    { backend: 's3' },
  ),
  COGNITION_AVAILABILITY_ZONES: withDefault(
    wholeNumber(1, 4),
    '2',
    'Availability Zones of the network; each one more costs its interface endpoints',
  ),
  COGNITION_RETAIN_DATA: withDefault(
    flag,
    '1',
    '`0` lets `cdk destroy` delete the table and the buckets with everything in them',
  ),
  COGNITION_LOG_LEVEL: withDefault(
    logLevel,
    'info',
    'the least severe log line of functions: `debug`, `info`, `warn` or `error`',
  ),
  COGNITION_LOG_RETENTION_DAYS: withDefault(retentionDays, '90', 'days that every log is kept'),
  COGNITION_ALARM_EMAIL: withoutDefault(
    emailAddress,
    'address that alarms are sent to, once it has confirmed; left out, nobody is told',
  ),
  COGNITION_WAF: withDefault(flag, '0', '`1` puts a web application firewall before the API'),
  COGNITION_API_RATE: withDefault(
    wholeNumber(1, 10_000),
    '100',
    'requests a second of the whole API, in the long run',
  ),
  COGNITION_API_BURST: withDefault(wholeNumber(1, 5_000), '200', 'requests that may come at once'),
  COGNITION_UNSAFE_CALLER: withoutDefault(
    principal,
    'for emulators: who calls where API Gateway checks no signature, `<account id>/<role unique id>`; leaves out what emulators lack',
  ),
  COGNITION_ENDPOINT_URL_ECS: withoutDefault(
    httpUrl,
    'for emulators: where functions reach ECS, if not where they reach all else',
  ),
  ...CLI_SETTINGS,
});

/** In the order in which docs list them. */
export const DEPLOYMENT_SETTINGS = describeSettings(deploymentSchema.shape);
