import { parseArgs } from 'node:util';
import type { ArgsDef } from 'citty';
import { usage } from './failure.ts';

export interface StrictArguments {
  readonly values: (option: string) => readonly string[];
  readonly rest: readonly string[];
}

/**
 * citty takes unknown options, repeated ones and too many arguments without a word; a mistyped option must not
 * change what a command does, so all of them are refused here.
 * @throws CliFailure `usage`
 */
export function strictArguments(
  rawArgs: readonly string[],
  definitions: ArgsDef,
  allowed: { readonly repeatable: readonly string[]; readonly rest: boolean },
): StrictArguments {
  const { tokens } = tokenize(rawArgs, definitions);
  const end = tokens.find((token) => token.kind === 'option-terminator')?.index ?? rawArgs.length;
  const options = tokens.flatMap((token) => (token.kind === 'option' ? [token] : []));
  for (const { name } of options) {
    const times = options.filter((option) => option.name === name).length;
    if (times > 1 && !allowed.repeatable.includes(name)) throw usage(`--${name} is given ${times} times`);
  }
  const positionals = tokens.flatMap((token) =>
    token.kind === 'positional' && token.index < end ? [token.value] : [],
  );
  checkPositionals(positionals, definitions);
  const rest = rawArgs.slice(end + 1);
  if (rest.length > 0 && !allowed.rest)
    throw usage(`nothing is expected after \`--\`, but ${quote(rest[0])} is`);
  return {
    rest,
    values: (name) =>
      options.flatMap((option) => (option.name === name && option.value !== undefined ? [option.value] : [])),
  };
}

const quote = (text: string | undefined): string => JSON.stringify(text ?? '');

function tokenize(rawArgs: readonly string[], definitions: ArgsDef) {
  const options = Object.fromEntries(
    Object.entries(definitions).flatMap(([name, definition]) => {
      if (definition.type === 'positional') return [];
      const alias = 'alias' in definition ? definition.alias : undefined;
      const short = typeof alias === 'string' && alias.length === 1 ? { short: alias } : {};
      const type = definition.type === 'boolean' ? ('boolean' as const) : ('string' as const);
      return [[name, { type, multiple: true, ...short }] as const];
    }),
  );
  try {
    return parseArgs({ args: [...rawArgs], options, strict: true, allowPositionals: true, tokens: true });
  } catch (cause) {
    const [sentence] = (cause instanceof Error ? cause.message : String(cause)).split(/\. |\n/);
    throw usage(sentence ?? 'the arguments cannot be read', 'add --help to see the options');
  }
}

function checkPositionals(given: readonly string[], definitions: ArgsDef): void {
  const expected = Object.entries(definitions).filter(([, definition]) => definition.type === 'positional');
  const [missing] = expected.slice(given.length).filter(([, definition]) => definition.required !== false);
  if (missing !== undefined)
    throw usage(`${missing[0].toUpperCase()} is missing`, 'add --help to see what is expected');
  const extra = given[expected.length];
  if (extra !== undefined) throw usage(`${quote(extra)} is one argument too many`);
}
