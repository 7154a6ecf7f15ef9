/**
 * The environment of a Lambda function: the stacks write it, functions/runtime/aws reads it. It comes in groups, and
 * each function gets the groups that its row of the function table needs and no more. What does not fit in the 4 KB of
 * an environment (bindings, profiles) travels beside the code.
 */
import * as z from 'zod';

const wholeNumber = (min: number) =>
  z
    .string()
    .regex(/^[0-9]{1,15}$/, 'is a whole number')
    .transform(Number)
    .refine((value) => value >= min, `is a whole number from ${min}`);
const text = z.string().min(1);
const list = text.transform((value) => value.split(',')).pipe(z.array(text));
const byProfile = text
  .transform((value, context): unknown => {
    try {
      return JSON.parse(value);
    } catch {
      context.issues.push({ code: 'custom', input: value, message: 'is not JSON' });
      return z.NEVER;
    }
  })
  .pipe(z.record(z.string(), text, 'is a JSON object of texts by profile'));

/** By group; names are unique over all of them. */
export const FUNCTION_ENVIRONMENT = {
  base: z.object({
    COGNITION_ENVIRONMENT: z.enum(['development', 'production'], 'is development or production'),
    COGNITION_LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error'], 'is debug, info, warn or error'),
    COGNITION_DEPLOYMENT: text,
    COGNITION_SKILLS_BACKEND: z.enum(['config_registry', 's3'], 'is config_registry or s3'),
  }),
  table: z.object({ COGNITION_TABLE: text }),
  artifacts: z.object({ COGNITION_ARTIFACTS_BUCKET: text }),
  packages: z.object({
    /** Required when the backend is `s3`. */
    COGNITION_SKILLS_S3_BUCKET: text.optional(),
    COGNITION_SKILLS_S3_PREFIX: z.string().default(''),
    /** Left out: that of the function. */
    COGNITION_SKILLS_S3_REGION: text.optional(),
  }),
  orchestrator: z.object({ COGNITION_STATE_MACHINE_ARN: text }),
  quotas: z.object({ COGNITION_RUNS_AT_ONCE: wholeNumber(1) }),
  /** What a profile's sandboxes run, as the manifest pins it. */
  images: z.object({ COGNITION_IMAGE_IDENTITIES: byProfile }),
  tasks: z.object({
    COGNITION_CLUSTER: text,
    /** By profile: the ARN or family:revision of its task definition. */
    COGNITION_TASK_DEFINITIONS: byProfile,
  }),
  /** For RunTask. */
  network: z.object({
    COGNITION_SANDBOX_SUBNETS: list,
    COGNITION_SANDBOX_SECURITY_GROUPS: list,
  }),
  pool: z.object({ COGNITION_SANDBOX_POOL_SIZE: wholeNumber(0) }),
} as const;

/** Beside the code of a function: bindings where the API is, profiles where the run boundary is. */
export const DEPLOYED_FILES = {
  bindings: 'scope-bindings.json',
  profiles: 'sandbox-profiles.json',
} as const;

export type EnvironmentGroup = keyof typeof FUNCTION_ENVIRONMENT;

/** The part of a row of the function table that decides. */
export interface FunctionNeeds {
  readonly name: string;
  readonly table: string;
  readonly packages: string;
  readonly artifacts: string;
  readonly inputs: string;
  readonly ecs: readonly string[];
  readonly starts_runs: boolean;
}

/** Runs name their sandboxes' image; only some functions also talk to ECS. */
const PINS_IMAGES: readonly string[] = ['runs', 'pin-manifest'];

export function environmentGroups(needs: FunctionNeeds): readonly EnvironmentGroup[] {
  const wanted: readonly (readonly [EnvironmentGroup, boolean])[] = [
    ['base', true],
    ['table', needs.table !== 'none'],
    ['artifacts', needs.artifacts !== 'none' || needs.inputs !== 'none'],
    ['packages', needs.packages !== 'none'],
    ['orchestrator', needs.starts_runs],
    ['quotas', needs.name === 'runs'],
    ['images', needs.ecs.length > 0 || PINS_IMAGES.includes(needs.name)],
    ['tasks', needs.ecs.length > 0],
    ['network', needs.ecs.includes('RunTask')],
    ['pool', needs.name === 'pool'],
  ];
  return wanted.filter(([, needed]) => needed).map(([group]) => group);
}

/** The variables that a function may be given, in order; some are optional. */
export const functionVariables = (needs: FunctionNeeds): readonly string[] =>
  environmentGroups(needs).flatMap((group) => Object.keys(FUNCTION_ENVIRONMENT[group].shape));
