/** Settings of a deployment as an operator gives them: an environment, and the files that it names. */
import {
  type ParsedDeployment,
  parseDeploymentSettings,
} from '../../../shared/contracts/deployment-settings.ts';
import { InvalidSettings } from '../../../shared/contracts/given-settings.ts';

export const BINDING = {
  account_id: '111122223333',
  role_id: 'AROA1234567890EXAMPLE',
  scopes: [{ tenant: 'acme' }],
};
export const PROFILE = { name: 'default' };
export const CALLER = '000000000000/AROALOCALBUILDER';
export const DIGEST = `sha256:${'a'.repeat(64)}`;
export const IMAGE = `111122223333.dkr.ecr.eu-central-1.amazonaws.com/sandbox@${DIGEST}`;

export type Files = Readonly<Record<string, unknown>>;

/** Files by name: what is not there cannot be read. */
const readerOf =
  (files: Files) =>
  (file: string): unknown => {
    if (!Object.hasOwn(files, file)) throw new Error(`ENOENT: no such file or directory, open '${file}'`);
    return files[file];
  };

/** With a binding, which is all that has to be there. */
export function parse(
  environment: Readonly<Record<string, string>> = {},
  files: Files = { 'bindings.json': [BINDING] },
): ParsedDeployment {
  return parseDeploymentSettings(
    { COGNITION_SCOPE_BINDINGS: 'bindings.json', ...environment },
    readerOf(files),
  );
}

export function problemsOf(environment: Readonly<Record<string, string>>, files?: Files): readonly string[] {
  try {
    parse(environment, files);
  } catch (error) {
    if (error instanceof InvalidSettings) return error.problems;
    throw error;
  }
  return [];
}

export const withBinding = (binding: unknown): Files => ({ 'bindings.json': [binding] });
export const withProfile = (profile: unknown): Files => ({
  'bindings.json': [BINDING],
  'profiles.json': [profile],
});
export const PROFILES = { COGNITION_SANDBOX_PROFILES: 'profiles.json' };
