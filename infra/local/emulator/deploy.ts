/** The real `cdk bootstrap`, `cdk deploy` and the rest, as an operator types them, against an emulator. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { type CdkCommand, runCdk } from './run-cdk.ts';
import type { EmulatorConnection } from './start-emulator.ts';

export interface Cdk {
  /** @returns what it printed. @throws CdkFailure when it does not exit with 0. */
  run(args: readonly string[], settings?: Readonly<Record<string, string>>): Promise<string>;
  bootstrap(): Promise<void>;
  /** @returns the outputs of the stacks, by stack. */
  deploy(settings: Readonly<Record<string, string>>): Promise<Outputs>;
  /** A deployment that is killed as soon as it prints the text. @throws Error when it ends before. */
  deployUntil(text: string, settings: Readonly<Record<string, string>>): Promise<void>;
}

export type Outputs = z.infer<typeof outputsSchema>;

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const outputsSchema = z.record(z.string(), z.record(z.string(), z.string()));

/** @param folder for templates and outputs. @param signal ends the command that is under way. */
export function cdkFor(
  emulator: EmulatorConnection,
  account: string,
  folder: string,
  signal?: AbortSignal,
): Cdk {
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
  const prepare = (args: readonly string[], settings: Readonly<Record<string, string>>): CdkCommand => {
    const file = join(folder, 'settings.env');
    const lines = Object.entries(settings).map(([name, value]) => `${name}='${value}'\n`);
    writeFileSync(file, lines.join(''));
    const more = ['-c', `settings=${file}`, '--output', join(folder, 'cdk.out')];
    return { args: [...args, ...more], env, cwd: ROOT, signal };
  };
  const run: Cdk['run'] = (args, settings = {}) => runCdk(prepare(args, settings));
  return {
    run,
    bootstrap: async () => {
      // The environment by its name, in a folder without an app: nothing has to be synthesized for it.
      await runCdk({ args: ['bootstrap', `aws://${account}/${emulator.region}`], env, cwd: folder, signal });
    },
    deploy: async (settings) => {
      const file = join(folder, 'outputs.json');
      rmSync(file, { force: true });
      await run([...DEPLOY, '--outputs-file', file], settings);
      return outputsSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
    },
    deployUntil: async (text, settings) => {
      await runCdk({ ...prepare(DEPLOY, settings), killAt: text });
    },
  };
}

/** Without change sets, which emulators do not keep for stacks that exist. */
export const DEPLOY = ['deploy', '--all', '--require-approval', 'never', '--method=direct'] as const;

/** Settings are in a file that whoever deploys has written, so that nothing of this shell, or of a cognition.env, gets in. */
const withoutSettings = (env: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && !/^(COGNITION_|AWS_PROFILE$|AWS_SESSION_TOKEN$)/.test(entry[0]),
    ),
  );
