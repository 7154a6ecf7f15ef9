import { stripVTControlCharacters } from 'node:util';
import { type CommandDef, defineCommand, renderUsage } from 'citty';
import { COMMON_ARGS, type Command, type Group } from './command.ts';
import { EXIT, usage } from './failure.ts';
import type { CliIo } from './io.ts';
import { coloursOn } from './terminal/output.ts';

/**
 * The help of a command or group. A group that was called without `--help` is a call that was not finished: its
 * help goes to stderr and the exit code says so.
 */
export async function showHelp(
  found: Group | Command,
  path: readonly string[],
  rawArgs: readonly string[],
  io: CliIo,
): Promise<number> {
  const asked =
    rawArgs.includes('--help') || rawArgs.includes('-h') || (path[0] === undefined && rawArgs.length === 0);
  const unknown = found.kind === 'group' ? rawArgs.find((word) => !word.startsWith('-')) : undefined;
  if (unknown !== undefined) {
    const names = found.kind === 'group' ? Object.keys(found.commands).join(', ') : '';
    throw usage(
      `${JSON.stringify(unknown)} is not a command of \`${['cognition', ...path].join(' ')}\``,
      `try one of: ${names}`,
    );
  }
  const stream = asked ? io.stdout : io.stderr;
  const text = await renderHelp(found, path);
  stream.write(`${coloursOn(io.env, stream) ? text : stripVTControlCharacters(text)}\n`);
  return asked ? EXIT.success : EXIT.usage;
}

async function renderHelp(found: Group | Command, path: readonly string[]): Promise<string> {
  const parent: CommandDef = defineCommand({ meta: { name: ['cognition', ...path.slice(0, -1)].join(' ') } });
  if (found.kind === 'group') {
    const rendered = await renderUsage(groupDefinition(found), path.length === 0 ? undefined : parent);
    return [rendered, ...(found.epilogue === undefined ? [] : ['', ...found.epilogue])].join('\n');
  }
  const rendered = await renderUsage(found.definition, parent);
  const rest = found.rest === undefined ? [] : [`After --: ${found.rest}`, ''];
  return [rendered, ...rest, 'EXAMPLES', '', ...found.examples.map((line) => `  ${line}`)].join('\n');
}

const groupDefinition = (found: Group): CommandDef =>
  defineCommand({
    meta: { name: found.name, description: found.description },
    args: found.name === 'cognition' ? COMMON_ARGS : {},
    subCommands: Object.fromEntries(
      Object.entries(found.commands).map(([name, { description }]) => [
        name,
        { meta: { name, description } },
      ]),
    ),
  });
