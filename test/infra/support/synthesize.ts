/** Deployments as tests synthesize them: real settings and stacks, bundles of one line. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { App } from 'aws-cdk-lib';
import { createApp } from '../../../infra/create-app.ts';
import { createDeployment, type DeploymentStacks } from '../../../infra/deployment.ts';
import { FUNCTIONS } from '../../../infra/functions/function-table.ts';
import {
  type DeploymentSettings,
  parseDeploymentSettings,
} from '../../../shared/contracts/deployment-settings.ts';

// Half of the time of a synthesis; the guards run with it.
process.env.CDK_VALIDATION ??= 'false';

export const ACCOUNT = '111122223333';
export const OTHER_ACCOUNT = '444455556666';
export const OWN_ROLE = 'AROA1234567890OWNROLE';
export const OTHER_ROLE = 'AROA1234567890FOREIGN';
export const OTHER_USER = 'AIDA1234567890FOREIGN';
const IMAGE = `${ACCOUNT}.dkr.ecr.eu-central-1.amazonaws.com/sandbox@sha256:${'a'.repeat(64)}`;

const own = { account_id: ACCOUNT, role_id: OWN_ROLE, scopes: [{ tenant: 'acme', project: '*' }] };
const foreign = (role_id: string) => ({ account_id: OTHER_ACCOUNT, role_id, scopes: [{ tenant: 'globex' }] });

const TEMPORARY = mkdtempSync(join(tmpdir(), 'cognition-infra-'));
const remove = (): void => rmSync(TEMPORARY, { recursive: true, force: true });
// A worker of vitest ends without an exit of its own.
if (process.env.VITEST === undefined) process.once('exit', remove);
else (await import('vitest')).afterAll(remove);

interface Variant {
  readonly environment?: Readonly<Record<string, string>>;
  readonly bindings?: readonly unknown[];
}

/** Together they have every resource that a deployment can have, and every choice both ways. */
export const VARIANTS = {
  /** The defaults. */
  production: {},
  /** Packages in the table, an image that is built, and everything that is off by default. */
  everything: {
    environment: {
      COGNITION_SANDBOX_IMAGE: '',
      COGNITION_SKILLS_BACKEND: 'config_registry',
      COGNITION_SANDBOX_POOL_SIZE: '2',
      COGNITION_WAF: '1',
      COGNITION_ALARM_EMAIL: 'operators@example.com',
      COGNITION_RETAIN_DATA: '0',
      COGNITION_AVAILABILITY_ZONES: '3',
    },
    bindings: [own, foreign(OTHER_ROLE), foreign(OTHER_USER)],
  },
  /** A bucket of the operator's for packages. */
  own_bucket: {
    environment: { COGNITION_SKILLS_S3_BUCKET: 'operators-packages', COGNITION_SKILLS_S3_PREFIX: 'skills/' },
  },
  /** What an emulator can deploy. */
  emulator: {
    environment: {
      COGNITION_ENVIRONMENT: 'development',
      COGNITION_UNSAFE_CALLER: '000000000000/AROALOCALBUILDER',
      COGNITION_RETAIN_DATA: '0',
    },
  },
} as const satisfies Readonly<Record<string, Variant>>;

export type VariantName = keyof typeof VARIANTS;
export const VARIANT_NAMES = Object.keys(VARIANTS) as VariantName[];

/** Settings through the real parser. */
export function settingsOf({ environment = {}, bindings = [own] }: Variant): DeploymentSettings {
  const given = {
    COGNITION_SCOPE_BINDINGS: 'bindings.json',
    COGNITION_SANDBOX_IMAGE: IMAGE,
    ...environment,
  };
  return parseDeploymentSettings(given, () => bindings).settings;
}

/** A folder with a handler for each function of the table. */
export function dummyBundles(): ReadonlyMap<string, string> {
  const root = mkdtempSync(join(TEMPORARY, 'bundles-'));
  return new Map(
    FUNCTIONS.map(({ name }) => {
      const folder = join(root, name);
      mkdirSync(folder);
      writeFileSync(join(folder, 'index.mjs'), `export const handler = async () => '${name}';\n`);
      return [name, folder];
    }),
  );
}

/** A folder that an image could be built in. */
function dummyImage(): string {
  const folder = mkdtempSync(join(TEMPORARY, 'image-'));
  writeFileSync(join(folder, 'Dockerfile'), 'FROM scratch\n');
  return folder;
}

export type Properties = Readonly<Record<string, unknown>>;
export interface Resource {
  readonly Type: string;
  readonly Properties?: Properties;
  readonly [other: string]: unknown;
}
export interface StackTemplate {
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly Outputs?: Readonly<Record<string, { readonly Value: unknown }>>;
}

export interface Synthesized {
  readonly app: App;
  readonly stacks: DeploymentStacks;
  /** By the stack's name without that of the deployment. */
  readonly templates: ReadonlyMap<string, StackTemplate>;
}

export function synthesize(settings: DeploymentSettings): Synthesized {
  const app = createApp(settings, { outdir: mkdtempSync(join(TEMPORARY, 'synth-')) });
  const stacks = createDeployment(app, settings, dummyBundles(), dummyImage());
  const assembly = app.synth();
  const templates = assembly.stacks.map((stack): [string, StackTemplate] => [
    stack.stackName.slice(`${settings.deployment}-`.length),
    JSON.parse(readFileSync(stack.templateFullPath, 'utf8')),
  ]);
  return { app, stacks, templates: new Map(templates) };
}

const synthesized = new Map<VariantName, Synthesized>();

/** Synthesized once a test file. */
export function variant(name: VariantName): Synthesized {
  const made = synthesized.get(name) ?? synthesize(settingsOf(VARIANTS[name]));
  synthesized.set(name, made);
  return made;
}

export function templateOf(name: VariantName, stack: string): StackTemplate {
  const template = variant(name).templates.get(stack);
  if (template === undefined) throw new Error(`${name} has no stack ${stack}`);
  return template;
}

export const resourcesOf = (template: StackTemplate, type: string): (Resource & { readonly id: string })[] =>
  Object.entries(template.Resources)
    .filter(([, resource]) => resource.Type === type)
    .map(([id, resource]) => ({ id, ...resource }));
