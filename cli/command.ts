/** How commands are defined: their arguments are checked strictly before anything of theirs is run. */
import { type ArgsDef, type CommandDef, defineCommand, type ParsedArgs, parseArgs } from 'citty';
import type { CliIo } from './io.ts';
import { createSession, type Session } from './session.ts';
import { type StrictArguments, strictArguments } from './strict-arguments.ts';
import type { Output } from './terminal/output.ts';

/** Understood by every command, before or after its name. */
export const COMMON_ARGS = {
  endpoint: {
    type: 'string',
    valueHint: 'url',
    description: 'The API; else COGNITION_ENDPOINT, else what a local server left',
  },
  region: {
    type: 'string',
    valueHint: 'name',
    description: 'The Region to sign for, where the endpoint does not say',
  },
  profile: {
    type: 'string',
    valueHint: 'name',
    description: 'Sign with this profile of the AWS configuration',
  },
  scope: {
    type: 'string',
    valueHint: 'key=value',
    description: 'The effective scope (repeatable); else COGNITION_SCOPE, else `scope use`',
  },
  json: { type: 'boolean', description: 'One JSON document on stdout, errors as JSON on stderr' },
  help: { type: 'boolean', alias: 'h', description: 'Show this' },
} as const;

export interface CommandInput<T extends ArgsDef> {
  readonly args: ParsedArgs<T>;
  /** All values of a repeatable option. */
  readonly values: StrictArguments['values'];
  /** What follows `--`, as it is. */
  readonly rest: readonly string[];
  readonly session: Session;
}

export interface CommandSpec<T extends ArgsDef> {
  readonly name: string;
  readonly description: string;
  readonly examples: readonly string[];
  readonly args: T;
  /** Options that may be given more than once. */
  readonly repeatable?: readonly string[];
  /** Set where arguments after `--` are taken: what they are. */
  readonly rest?: string;
  /** @returns the exit code, 0 where it returns nothing */
  readonly run: (input: CommandInput<T>) => Promise<number | undefined>;
}

export interface Command {
  readonly kind: 'command';
  readonly definition: CommandDef<ArgsDef>;
  readonly examples: readonly string[];
  readonly rest: string | undefined;
  readonly run: (rawArgs: readonly string[], io: CliIo, output: Output) => Promise<number>;
}

export function command<const T extends ArgsDef>(spec: CommandSpec<T>): Command {
  const args: ArgsDef = { ...spec.args, ...COMMON_ARGS };
  const repeatable = [...(spec.repeatable ?? []), 'scope'];
  return {
    kind: 'command',
    definition: defineCommand({ meta: { name: spec.name, description: spec.description }, args }),
    examples: spec.examples,
    rest: spec.rest,
    run: async (rawArgs, io, output) => {
      const strict = strictArguments(rawArgs, args, { repeatable, rest: spec.rest !== undefined });
      const code = await spec.run({
        args: parseArgs<T>([...rawArgs], args),
        values: strict.values,
        rest: strict.rest,
        session: createSession(io, output, {
          endpoint: strict.values('endpoint')[0],
          region: strict.values('region')[0],
          profile: strict.values('profile')[0],
          scope: strict.values('scope'),
        }),
      });
      return code ?? 0;
    },
  };
}

export interface Group {
  readonly kind: 'group';
  readonly name: string;
  readonly description: string;
  /** Shown in place of examples of its own. */
  readonly epilogue?: readonly string[];
  readonly commands: Readonly<
    Record<string, { readonly description: string; readonly load: () => Promise<Command | Group> }>
  >;
}

export const group = (spec: Omit<Group, 'kind'>): Group => ({ kind: 'group', ...spec });
