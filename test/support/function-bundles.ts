/** Bundles as they are deployed, and processes that run them as Lambda does. */
import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundleFunctions } from '../../infra/functions/bundle-functions.ts';
import type { FunctionForm } from '../../infra/functions/function-entry.ts';
import { functionSpec } from '../../infra/functions/function-table.ts';
import { functionVariables } from '../../shared/contracts/function-environment.ts';
import { sandboxProfileSchema } from '../../shared/contracts/sandbox-profile.ts';
import { ACCOUNT, ROLE, SCOPE } from './api-fakes.ts';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const BINDINGS = [{ account_id: ACCOUNT, role_id: ROLE, scopes: [SCOPE] }];
export const PROFILES = [sandboxProfileSchema.parse({ name: 'default' })];

export interface TestBundles {
  /** By the function's name. */
  readonly folders: ReadonlyMap<string, string>;
  readonly out: string;
  close(): Promise<void>;
}

/** @param form default: as for AWS. */
export async function makeBundles(form: FunctionForm = { unsafe_caller: false }): Promise<TestBundles> {
  const out = mkdtempSync(join(tmpdir(), 'function-bundles-'));
  const folders = await bundleFunctions({
    ...form,
    root: ROOT,
    out,
    bindings: BINDINGS,
    profiles: PROFILES,
  });
  return { folders, out, close: () => rm(out, { recursive: true }) };
}

const VALUES: Readonly<Record<string, string>> = {
  COGNITION_ENVIRONMENT: 'production',
  COGNITION_LOG_LEVEL: 'info',
  COGNITION_DEPLOYMENT: 'blue',
  COGNITION_SKILLS_BACKEND: 's3',
  COGNITION_SKILLS_S3_BUCKET: 'packages-bucket',
  COGNITION_TABLE: 'table',
  COGNITION_ARTIFACTS_BUCKET: 'artifacts-bucket',
  COGNITION_STATE_MACHINE_ARN: 'arn:aws:states:eu-west-1:123456789012:stateMachine:blue-runs',
  COGNITION_RUNS_AT_ONCE: '500',
  COGNITION_IMAGE_IDENTITIES: '{"default":"sha256:1"}',
  COGNITION_CLUSTER: 'blue',
  COGNITION_TASK_DEFINITIONS: '{"default":"cognition-sandbox-default:1"}',
  COGNITION_SANDBOX_SUBNETS: 'subnet-1,subnet-2',
  COGNITION_SANDBOX_SECURITY_GROUPS: 'sg-1',
  COGNITION_SANDBOX_POOL_SIZE: '0',
};

/** What the function is given when it is deployed, nothing more. */
export const environmentOf = (name: string): Record<string, string> =>
  Object.fromEntries(
    functionVariables(functionSpec(name)).flatMap((variable) => {
      const value = VALUES[variable];
      return value === undefined ? [] : [[variable, value]];
    }),
  );

/** What Lambda itself sets. */
export const LAMBDA_ENVIRONMENT = {
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_SESSION_TOKEN: 'token',
  AWS_LAMBDA_FUNCTION_NAME: 'blue-function',
  AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
};

export interface FunctionProcess {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** `MESSAGE` of an Error that ends a process, without its stack. */
export const messageOf = ({ stderr }: FunctionProcess): string =>
  /^Error: (.*)$/m.exec(stderr)?.[1] ?? stderr;

const PROGRAM = `
const { handler } = await import(process.env.BUNDLE);
if (process.env.EVENT !== undefined) {
  const context = { awsRequestId: 'lambda-1', functionName: 'blue-function', getRemainingTimeInMillis: () => 90_000 };
  const answer = await handler(JSON.parse(process.env.EVENT), context)
    .then((value) => ({ value }), ({ name, message }) => ({ error: { name, message } }));
  process.stdout.write(\`ANSWER \${JSON.stringify(answer)}\`);
}
`;

/** Imports the bundle in a new process, with that environment and no other, and calls it with the event if there is one. */
export function runFunction(
  folder: string,
  environment: Record<string, string>,
  event?: unknown,
): Promise<FunctionProcess> {
  const env = {
    ...environment,
    BUNDLE: pathToFileURL(join(folder, 'index.mjs')).href,
    ...(event === undefined ? {} : { EVENT: JSON.stringify(event) }),
  };
  return new Promise((resolve) => {
    execFile(process.execPath, ['--input-type=module', '-e', PROGRAM], { env }, (error, stdout, stderr) => {
      resolve({
        code: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1,
        stdout,
        stderr,
      });
    });
  });
}
