/** The COGNITION_* of an environment, as a standalone server and a deployment both read them. */
import type * as z from 'zod';
import { nearestName } from './nearest-name.ts';
import type { Setting } from './setting-values.ts';

/** All problems of an environment; the message has each on a line of its own. */
export class InvalidSettings extends Error {
  override readonly name = 'InvalidSettings';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`the settings are not valid:\n${problems.map((problem) => `- ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;
export type Given = Readonly<Record<string, string>>;

/** Where settings are read: a setting of the other place is no mistake, and has no effect. */
export interface SettingPlace {
  readonly settings: readonly Setting[];
  readonly default_environment: 'development' | 'production';
  readonly default_backend: string;
  /** Such as `a deployment`. */
  readonly other_place: string;
  readonly other_settings: readonly Setting[];
}

export interface GivenSettings {
  /** To be parsed: without what is ignored. */
  readonly given: Given;
  readonly environment: string;
  readonly backend: string;
  /** A line for each setting that is ignored. */
  readonly warnings: readonly string[];
  /** A line for each unsafe setting that production refuses. */
  readonly problems: readonly string[];
}

/** An empty value counts as not set. */
export function givenSettings(environment: Environment, place: SettingPlace): GivenSettings {
  const all = Object.entries(environment).filter(
    (entry): entry is [string, string] => entry[0].startsWith('COGNITION_') && Boolean(entry[1]),
  );
  const backend = environment.COGNITION_SKILLS_BACKEND || place.default_backend;
  const named = environment.COGNITION_ENVIRONMENT || place.default_environment;
  const ignored = new Map<string, string>();
  for (const setting of place.settings) {
    if (setting.backend === undefined || setting.backend === backend) continue;
    ignored.set(setting.name, `COGNITION_SKILLS_BACKEND is ${backend}`);
  }
  const own = new Set(place.settings.map(({ name }) => name));
  for (const { name, read_by } of place.other_settings) {
    if (!own.has(name) && read_by === undefined) ignored.set(name, `it is a setting of ${place.other_place}`);
  }
  const isUnsafe = (name: string, value: string) => name.startsWith('COGNITION_UNSAFE_') && value !== '0';
  const refused = named === 'production' ? all.filter(([name, value]) => isUnsafe(name, value)) : [];
  return {
    given: Object.fromEntries(all.filter(([name]) => !ignored.has(name))),
    environment: named,
    backend,
    warnings: [...ignored].flatMap(([name, why]) =>
      all.some(([given]) => given === name) ? [`${name} is ignored: ${why}`] : [],
    ),
    problems: refused.map(([name]) => `${name} is for development: leave it out`),
  };
}

/** One line for each thing that a schema of settings refuses: what was given, and what it must be. */
export function settingProblems(
  error: z.core.$ZodError | undefined,
  settings: readonly Setting[],
  given: Given,
): readonly string[] {
  const names = settings.map(({ name }) => name);
  return (error?.issues ?? []).flatMap((issue) => {
    const name = issue.path.join('.');
    if (issue.code !== 'unrecognized_keys') return [`${name} is ${shown(given[name])}: it ${issue.message}`];
    return issue.keys.map((key) => `${key} is not a setting: did you mean ${nearestName(key, names)}?`);
  });
}

/** Quoted, so that a space or a line break in it can be seen. */
const shown = (value = ''): string => JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
