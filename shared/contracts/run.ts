/** Runs over the API. */
import * as z from 'zod';
import { errorCodeSchema } from './error-codes.ts';
import { LIMITS } from './limits.ts';
import { digestSchema, idSchema, nameSchema, sha256Schema, timeSchema } from './names.ts';
import { sizeText } from './size-text.ts';

const utf8Bytes = (text: string): number => Buffer.byteLength(text, 'utf8');
const plainText = z.string().refine((text) => !text.includes('\0') && text.isWellFormed(), {
  message: 'no NUL and no lone surrogate',
});

const argsSchema = z
  .array(plainText)
  .max(LIMITS.args)
  .refine((args) => args.reduce((sum, arg) => sum + utf8Bytes(arg), 0) <= LIMITS.argsBytes, {
    message: `at most ${sizeText(LIMITS.argsBytes)} together`,
  });

export const skillCommandSchema = z.strictObject({
  skill: nameSchema,
  script: z.string().min(1).max(LIMITS.pathBytes),
  args: argsSchema.default([]),
});
export const argvCommandSchema = z.strictObject({
  argv: argsSchema.refine((argv) => argv.length > 0 && argv[0] !== '', 'the program to start comes first'),
});
export const commandSchema = z.union([skillCommandSchema, argvCommandSchema]);

export { FORBIDDEN_ENV } from './forbidden-env.ts';

const variablesSchema = z
  .record(
    z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, 'a variable name'),
    plainText.refine(
      (value) => utf8Bytes(value) <= LIMITS.envValueBytes,
      `at most ${sizeText(LIMITS.envValueBytes)}`,
    ),
  )
  .refine((env) => Object.keys(env).length <= LIMITS.envNames, `at most ${LIMITS.envNames} names`);

/** A record would drop the name instead of refusing it. */
const envSchema = z
  .custom<Record<string, string>>(
    (env) => typeof env !== 'object' || env === null || !Object.hasOwn(env, '__proto__'),
    { message: 'a name that no variable has', path: ['__proto__'] },
  )
  .pipe(variablesSchema);

/** Kept as it came: the schema's own copy of a JSON value loses every name `__proto__`. */
const jsonSchema = z.custom<z.core.util.JSONType>((value) => z.json().safeParse(value).success, 'JSON');

export const runInputSchema = z.strictObject({
  artifact_id: idSchema,
  path: z.string().min(1).max(LIMITS.pathBytes),
});

export const createRunSchema = z
  .strictObject({
    agent: nameSchema,
    command: commandSchema,
    stdin: z
      .string()
      .refine((text) => text.isWellFormed() && utf8Bytes(text) <= LIMITS.stdinBytes, {
        message: `well-formed text of at most ${sizeText(LIMITS.stdinBytes)}`,
      })
      .optional(),
    stdin_json: jsonSchema.optional(),
    env: envSchema.default({}),
    inputs: z.array(runInputSchema).max(LIMITS.inputs).default([]),
    outputs: z.array(z.string().min(1).max(LIMITS.pathBytes)).max(LIMITS.outputGlobs).optional(),
    timeout_seconds: z
      .int()
      .min(1)
      .max(LIMITS.commandTimeoutSecondsMax)
      .default(LIMITS.commandTimeoutSeconds),
  })
  .refine((run) => run.stdin === undefined || run.stdin_json === undefined, {
    message: 'give `stdin` or `stdin_json`, not both',
    path: ['stdin'],
  });
export type CreateRun = z.infer<typeof createRunSchema>;

export const RUN_STATUSES = [
  'queued',
  'pinned',
  'launching',
  'materializing',
  'running',
  'collecting',
  'succeeded',
  'failed',
  'timed_out',
  'cancelled',
] as const;
export const runStatusSchema = z.enum(RUN_STATUSES);
export type RunStatus = z.infer<typeof runStatusSchema>;

/** The step of the run machine that a failure or event belongs to. */
export const stageSchema = z.enum([
  'queue',
  'pin',
  'launch',
  'materialize',
  'execute',
  'collect',
  'finish',
  'teardown',
]);
export type Stage = z.infer<typeof stageSchema>;

export const runFailureSchema = z.object({ code: errorCodeSchema, stage: stageSchema, message: z.string() });
export type RunFailure = z.infer<typeof runFailureSchema>;

export const runSchema = z.object({
  run_id: idSchema,
  agent: nameSchema,
  status: runStatusSchema,
  stage: stageSchema,
  cancel_requested: z.boolean(),
  exit_code: z.int().nullable(),
  /** Set when the command was ended by a signal, e.g. SIGKILL; exit_code is then 128 + its number. */
  signal: z.string().nullable(),
  stdout: z.string(),
  stdout_truncated: z.boolean(),
  stderr: z.string(),
  stderr_truncated: z.boolean(),
  failure: runFailureSchema.nullable(),
  warnings: z.array(z.string()),
  manifest_digest: digestSchema.nullable(),
  artifact_count: z.int(),
  timings: z.object({
    queued_at: timeSchema,
    pinned_at: timeSchema.nullable(),
    sandbox_ready_at: timeSchema.nullable(),
    sealed_at: timeSchema.nullable(),
    started_at: timeSchema.nullable(),
    exited_at: timeSchema.nullable(),
    finished_at: timeSchema.nullable(),
  }),
});
export type Run = z.infer<typeof runSchema>;
/** List items leave the streams out. */
export const runSummarySchema = runSchema.omit({ stdout: true, stderr: true });
export type RunSummary = z.infer<typeof runSummarySchema>;

export const runListQuerySchema = z.strictObject({
  cursor: z.string().max(2_048).optional(),
  limit: z.coerce.number().int().min(1).max(LIMITS.listLimitMax).default(LIMITS.listLimit),
});

export const eventsQuerySchema = z.strictObject({
  after: z.coerce.number().int().min(0).default(0),
  wait_seconds: z.coerce.number().int().min(0).max(LIMITS.eventWaitSeconds).default(0),
  limit: z.coerce.number().int().min(1).max(LIMITS.listLimitMax).default(LIMITS.listLimitMax),
});

export const artifactQuerySchema = z.strictObject({
  path: z.string().min(1).max(LIMITS.pathBytes).optional(),
});

/** An output of a run: collected, or refused with a reason. */
export const artifactSchema = z.object({
  path: z.string(),
  size_bytes: z.int(),
  sha256: sha256Schema.optional(),
  artifact_id: idSchema.optional(),
  refused: z.string().optional(),
});
export type Artifact = z.infer<typeof artifactSchema>;

/** An input uploaded with POST /artifacts. */
export const inputArtifactSchema = z.object({
  artifact_id: idSchema,
  size_bytes: z.int(),
  sha256: sha256Schema,
  content_type: z.string(),
  created_at: timeSchema,
  expires_at: timeSchema,
});
export type InputArtifact = z.infer<typeof inputArtifactSchema>;
