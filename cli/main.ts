/** The command `cognition`: finds what is asked for, runs it, and turns whatever happens into an exit code. */
import type { Command, Group } from './command.ts';
import type { CliIo } from './io.ts';

export { processIo } from './process-io.ts';

/** @returns the exit code; nothing is thrown */
export async function main(io: CliIo): Promise<number> {
  const argv = commonOptionsLast(io.argv);
  const end = argv.indexOf('--');
  const own = end === -1 ? argv : argv.slice(0, end);
  const { createOutput } = await import('./terminal/output.ts');
  const output = createOutput(io, own.includes('--json'));
  try {
    const { rootGroup } = await import('./commands/root.ts');
    const { found, path, rawArgs } = await findCommand(rootGroup, argv);
    if (found.kind === 'group' || own.includes('--help') || own.includes('-h')) {
      const { showHelp } = await import('./help.ts');
      return await showHelp(found, path, rawArgs, io);
    }
    return await found.run(rawArgs, io, output);
  } catch (error) {
    const { reportError } = await import('./report-error.ts');
    return reportError(error, output);
  }
}

const VALUE_OPTIONS = new Set(['--endpoint', '--region', '--profile', '--scope']);

/** `cognition --json skills list` is `cognition skills list --json`. */
function commonOptionsLast(argv: readonly string[]): readonly string[] {
  let commandAt = 0;
  while (argv[commandAt]?.startsWith('-') && argv[commandAt] !== '--') {
    commandAt += VALUE_OPTIONS.has(argv[commandAt] ?? '') ? 2 : 1;
  }
  const end = argv.indexOf('--', commandAt);
  const rest = end === -1 ? argv.length : end;
  return [...argv.slice(commandAt, rest), ...argv.slice(0, commandAt), ...argv.slice(rest)];
}

async function findCommand(
  root: Group,
  argv: readonly string[],
): Promise<{ found: Group | Command; path: readonly string[]; rawArgs: readonly string[] }> {
  let found: Group | Command = root;
  let depth = 0;
  while (found.kind === 'group') {
    const word = argv[depth];
    const entry: Group['commands'][string] | undefined =
      word !== undefined && Object.hasOwn(found.commands, word) ? found.commands[word] : undefined;
    if (entry === undefined) break;
    found = await entry.load();
    depth += 1;
  }
  return { found, path: argv.slice(0, depth), rawArgs: argv.slice(depth) };
}
