import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { DEPLOYMENT_SETTINGS } from '../shared/contracts/deployment-setting-schema.ts';
import { type ParsedDeployment, parseDeploymentSettings } from '../shared/contracts/deployment-settings.ts';
import { type Environment, InvalidSettings } from '../shared/contracts/given-settings.ts';
import { nearestName } from '../shared/contracts/nearest-name.ts';

export interface ReadDeploymentSettingsOptions {
  /** Wins over the file. */
  readonly environment: Environment;
  /** What relative paths are from, those in settings too. */
  readonly directory: string;
  /** Default: `cognition.env` in the directory, if it is there. */
  readonly file?: string | undefined;
}

const DEFAULT_FILE = 'cognition.env';

/**
 * The settings of a deployment, from the environment and from a file of lines `NAME=value`.
 * @throws InvalidSettings with every problem, a line each.
 */
export function readDeploymentSettings(options: ReadDeploymentSettingsOptions): ParsedDeployment {
  const { environment, directory } = options;
  const given = Object.entries(environment).filter(([, value]) => Boolean(value));
  const merged: Environment = { ...readSettingsLines(options), ...Object.fromEntries(given) };
  return parseDeploymentSettings(merged, (file) =>
    JSON.parse(readFileSync(resolve(directory, file), 'utf8')),
  );
}

function readSettingsLines({ directory, file }: ReadDeploymentSettingsOptions): Environment {
  const path = resolve(directory, file ?? DEFAULT_FILE);
  if (file === undefined && !existsSync(path)) return {};
  const name = file ?? DEFAULT_FILE;
  const lines = parseEnv(readText(path, name));
  // A mistyped name in the environment cannot be told from what is meant for others; here it can.
  const foreign = Object.keys(lines).filter((key) => !key.startsWith('COGNITION_'));
  if (foreign.length === 0) return lines;
  const known = DEPLOYMENT_SETTINGS.map((setting) => setting.name);
  throw new InvalidSettings(
    foreign.map((key) => `${key} in ${name} is not a setting: did you mean ${nearestName(key, known)}?`),
  );
}

function readText(path: string, name: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'unreadable';
    throw new InvalidSettings([
      `${name} is not a file of settings that can be read (${reason}): name another one with -c settings=<file>`,
    ]);
  }
}
