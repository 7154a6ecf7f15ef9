/** The real `cdk bootstrap`, `cdk deploy` and the rest, as an operator types them, against an emulator. */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import type { EmulatorConnection } from './start-emulator.ts';

export interface Cdk {
  /** @returns what it printed. @throws CdkFailure when it does not exit with 0. */
  run(args: readonly string[], settings?: Readonly<Record<string, string>>): Promise<string>;
  bootstrap(): Promise<void>;
  /** @returns the outputs of the stacks, by stack. */
  deploy(settings: Readonly<Record<string, string>>): Promise<Outputs>;
}

export type Outputs = z.infer<typeof outputsSchema>;

export class CdkFailure extends Error {
  override readonly name = 'CdkFailure';
  readonly output: string;

  constructor(args: readonly string[], output: string) {
    super(`\`cdk ${args.join(' ')}\` failed:\n${output.slice(-4_000)}`);
    this.output = output;
  }
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const outputsSchema = z.record(z.string(), z.record(z.string(), z.string()));

/** @param folder for templates and outputs. */
export function cdkFor(emulator: EmulatorConnection, account: string, folder: string): Cdk {
  mkdirSync(folder, { recursive: true });
  const env = {
    ...withoutSettings(process.env),
    PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH ?? '/usr/bin:/bin'}`,
    AWS_ENDPOINT_URL: emulator.endpoint,
    AWS_REGION: emulator.region,
    AWS_DEFAULT_REGION: emulator.region,
    AWS_ACCESS_KEY_ID: emulator.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: emulator.credentials.secretAccessKey,
    AWS_EC2_METADATA_DISABLED: 'true',
    CI: 'true',
    NO_COLOR: '1',
  };
  const run: Cdk['run'] = (args, settings = {}) =>
    output([...args, '--output', join(folder, 'cdk.out')], { ...env, ...settings }, ROOT);
  return {
    run,
    bootstrap: async () => {
      // The environment by its name, in a folder without an app: nothing has to be synthesized for it.
      await output(['bootstrap', `aws://${account}/${emulator.region}`], env, folder);
    },
    deploy: async (settings) => {
      const file = join(folder, 'outputs.json');
      rmSync(file, { force: true });
      await run([...DEPLOY, '--outputs-file', file], settings);
      return outputsSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
    },
  };
}

/** Without change sets, which emulators do not keep for stacks that exist. */
export const DEPLOY = ['deploy', '--all', '--require-approval', 'never', '--method=direct'] as const;

/** What an operator would set is given by whoever deploys, so that nothing of this shell gets in. */
const withoutSettings = (env: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && !/^(COGNITION_|AWS_PROFILE$|AWS_SESSION_TOKEN$)/.test(entry[0]),
    ),
  );

function output(args: readonly string[], env: Record<string, string>, cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('cdk', args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    const hear = (chunk: unknown): void => {
      text += chunk;
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve(text) : reject(new CdkFailure(args, text))));
  });
}
